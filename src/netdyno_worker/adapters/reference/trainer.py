"""The oracle: trains any program with numpy in float64, which other frameworks are compared with.

A replay rounds at random as another precision does, to show what rounding explains.
"""

from collections import namedtuple

import numpy as np

from netdyno_worker.adapters.reference.optimizers import BY_SIGN, OPTIMIZERS
from netdyno_worker.contract import Trainer, Unsupported
from netdyno_worker.oracle.ops import KERNELS, KINKED, latest_state
from netdyno_worker.oracle.rounding import EXACT, Rounding
from netdyno_worker.program import inputs_by_role, nodes_for

# One update's way through the graph: its nodes in order, and for each node which inputs need a gradient.
Tape = namedtuple("Tape", "update nodes needed")
# What an update computes at the current parameters: every value, the latest of each running statistic, gradients.
Pass = namedtuple("Pass", "values latest gradients")


def versions():
    return {"numpy": np.__version__}


def build(job):
    if job.device != "cpu":
        raise Unsupported("the reference computes on the cpu only, received device '%s'" % job.device)
    if job.precision not in ("float64", "float32"):
        raise Unsupported(
            "the reference computes in float64 from float32 values, received precision '%s'" % job.precision
        )
    return ReferenceTrainer(job, EXACT)


def replay(job, number, noises=()):
    """The same, rounded at random as the job's precision does."""
    return ReferenceTrainer(job, Rounding(job.precision, number, noises))


class ReferenceTrainer(Trainer):
    """Walks a tape per update. Draws depend on seed and step only, so reading never changes later steps: what was
    computed for it serves the next step."""

    def __init__(self, job, rounding):
        self._rounding = rounding
        self._program = job.program
        self._seed = job.seed
        self._threads = job.threads
        self._parameters = {p.name: np.array(job.initial(p.name), np.float64) for p in job.program.parameters}
        self._tapes = [_tape(job.program, update) for update in job.program.updates]
        self._moments = {}
        self._batch = {}
        self._losses = {}
        self._passes = {}  # by update, at the current parameters
        self.values = {}  # of the last step's nodes, and gradients at which an optimizer has a kink
        self._steps = 0

    def feed(self, batch):
        self._batch = {name: _widened(array) for name, array in batch.items()}
        self._passes.clear()

    def step(self):
        for tape in self._tapes:
            found = self._pass(tape)
            self.values.update((name, value) for name, value in found.values.items() if name not in self._parameters)
            self._losses[tape.update.name] = float(found.values[tape.update.loss])
            self._move_statistics(tape.nodes, found.latest)
            self._move_parameters(tape.update, found.gradients)
            self._passes.clear()
        self._steps += 1

    def wait(self):
        """A numpy call returns when it has computed."""

    def settings(self):
        return {"arithmetic": "float64", "layout": "nchw"}

    def _read_outputs(self):
        values = next((found.values for found in map(self._pass, self._tapes) if self._has_outputs(found)), None)
        if values is None:
            values, _ = self._forward(nodes_for(self._program, self._program.outputs))
        return {name: np.array(values[name]) for name in self._program.outputs}

    def _has_outputs(self, found):
        return all(name in found.values for name in self._program.outputs)

    def _read_parameters(self):
        return {name: value.copy() for name, value in self._parameters.items()}

    def _read_losses(self):
        return dict(self._losses)

    def _read_gradients(self):
        found = {}
        for tape in self._tapes:
            gradients = self._pass(tape).gradients
            found.update({tape.update.name + "/" + name: np.array(g) for name, g in gradients.items()})
        return found

    def _pass(self, tape):
        """Forward and backward, computed once for the current parameters."""
        name = tape.update.name
        if name not in self._passes:
            values, kept = self._forward(tape.nodes)
            latest = self._latest_statistics(tape.nodes, kept)
            self._passes[name] = Pass(values, latest, self._gradients(tape, kept))
        return self._passes[name]

    def _forward(self, nodes):
        """({name: value}, {node name: what its backward needs})."""
        values = dict(self._batch)
        values.update(self._parameters)
        kept = {}
        for node in nodes:
            inputs = self._rounding.inputs(node, [values[name] for name in node.inputs])
            value, kept[node.name] = KERNELS[node.op].forward(inputs, self._attributes(node))
            values[node.name] = self._rounding.value(value)
        return values, kept

    def _gradients(self, tape, kept):
        """{parameter: gradient of the loss}; `kept` is emptied, so that memory is freed during the backward pass."""
        found = {tape.update.loss: np.float64(1.0)}
        for node in reversed(tape.nodes):
            memory = kept.pop(node.name)
            needed = tape.needed[node.name]
            if any(needed) and node.name in found:
                (gradient,) = self._rounding.inputs(node, [found.pop(node.name)])
                gradients = KERNELS[node.op].backward(gradient, memory, needed)
                gradients = [g if g is None else self._rounding.value(g) for g in gradients]
                _accumulate(found, node.inputs, gradients, needed)
        return {
            name: found[name] if name in found else np.zeros_like(self._parameters[name])
            for name in tape.update.parameters
        }

    def _attributes(self, node):
        """A node's attributes, with a generator where it draws: new each step, the same in all its updates; with what
        a replay does at a kink and to sums; with how many threads may share the work."""
        more = {"rounding": self._rounding, "threads": self._threads}
        if node.op in KINKED:
            more["flips"] = self._rounding.flips(node, self._steps)
        if self._program.facts[node.op].random:
            key = [self._seed % 2**32, node.attributes["seed"] % 2**32, self._steps]
            more["random"] = np.random.RandomState(key)
        return dict(node.attributes, **more)

    def _latest_statistics(self, nodes, kept):
        """{running statistic: its value in this batch}."""
        found = {}
        for node in nodes:
            state = self._program.facts[node.op].state
            names = [name for role, name in inputs_by_role(self._program, node) if role in state]
            found.update(zip(names, latest_state(kept[node.name]) if names else ()))
        return found

    def _move_statistics(self, nodes, latest):
        for node in nodes:
            for name in node.inputs:
                if name in latest:
                    old = self._parameters[name]
                    moved = old + node.attributes["momentum"] * (latest[name] - old)
                    self._parameters[name] = self._rounding.parameter(moved)

    def _move_parameters(self, update, gradients):
        rule, constants = OPTIMIZERS[update.optimizer["kind"]], self._rounding.constants(update.optimizer)
        for name, gradient in gradients.items():
            moments = self._moments.setdefault((update.name, name), {})
            if update.optimizer["kind"] in BY_SIGN:
                key = "gradient of %s in %s" % (name, update.name)
                self.values[key] = gradient
                gradient = self._rounding.gradient(key, gradient, self._steps)
            moved = self._parameters[name] - self._rounding.parameter(rule(gradient, moments, constants))
            self._parameters[name] = self._rounding.parameter(moved)


def _tape(program, update):
    """Only what lies between the update's parameters and its loss is ever differentiated."""
    nodes = nodes_for(program, [update.loss])
    wanted = set(update.parameters)
    needed = {}
    for node in nodes:
        passes = not program.facts[node.op].blocks_gradient
        needed[node.name] = [passes and name in wanted for name in node.inputs]
        if any(needed[node.name]):
            wanted.add(node.name)
    return Tape(update, nodes, needed)


def _accumulate(found, names, gradients, needed):
    """Add up by name; never in place, because an op may hand the same array to two inputs."""
    for name, gradient, wanted in zip(names, gradients, needed):
        if wanted:
            found[name] = found[name] + gradient if name in found else gradient


def _widened(array):
    """Floats as float64, integers as they are."""
    array = np.array(array)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


UNSUPPORTED = {}
