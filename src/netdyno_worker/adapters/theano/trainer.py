"""Trains a program with Theano: one compiled function per update, over shared variables that it changes in place.

Theano compiles each function to C++ that runs the whole update; a step passes nothing in.
"""

from collections import OrderedDict

import numpy as np

from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.theano.ops import evaluate
from netdyno_worker.adapters.theano.optimizers import RULES, shared_array
from netdyno_worker.adapters.theano.start import MRG_RandomStreams, tensor, theano
from netdyno_worker.contract import Trainer, Unsupported


def versions():
    return {"theano": theano.__version__, "numpy": np.__version__, "g++": theano.gof.cmodule.gcc_version()}


def build(job):
    _refuse(job)
    theano.config.floatX = kept_type(job).name  # also what Python's floats become in an expression
    if job.precision == "float64":
        # For proofs, whose time is g++'s: without optimizing it takes two thirds of it. The C++ stays the same.
        theano.config.cmodule.remove_gxx_opt = True
    return TheanoTrainer(job)


class TheanoTrainer(Trainer):
    """Parameters and the batch are shared variables, so a step passes nothing in."""

    def __init__(self, job):
        self._program = job.program
        self._random = MRG_RandomStreams(job.seed % 2**30 + 1)
        dtype = kept_type(job)
        self._shared = OrderedDict((i.name, shared_array(_room(i, dtype), i.name)) for i in job.program.inputs)
        for parameter in job.program.parameters:
            initial = np.array(job.initial(parameter.name), dtype=dtype)
            self._shared[parameter.name] = shared_array(initial, parameter.name)
        self._steps = [self._compiled_update(update) for update in job.program.updates]
        self._losses = [float("nan")] * len(self._steps)
        self._readers = {}

    def feed(self, batch):
        for name, array in batch.items():
            shared = self._shared[name]
            shared.set_value(np.array(array, dtype=shared.dtype), borrow=True)

    def step(self):
        self._losses = [update() for update in self._steps]

    def wait(self):
        """A compiled function returns when it has computed."""

    def read(self, what):
        if what == "losses":
            return {update.name: float(loss) for update, loss in zip(self._program.updates, self._losses)}
        if what == "parameters":
            return {p.name: self._shared[p.name].get_value() for p in self._program.parameters}
        if what not in self._readers:
            self._readers[what] = {"outputs": self._outputs, "gradients": self._gradients}[what]()
        names, function = self._readers[what]
        return dict(zip(names, function()))

    def settings(self):
        return {
            "layout": "nchw",
            "blas": theano.config.blas.ldflags,
            "openmp": theano.config.openmp,
            "intermediate_results": "freed" if theano.config.allow_gc else "kept",
        }

    def _compiled_update(self, update):
        loss, gradients, changes = self._derived(update)
        changes += RULES[update.optimizer["kind"]](
            [self._shared[name] for name in update.parameters], gradients, update.optimizer
        )
        function = theano.function([], theano.Out(loss, borrow=True), updates=changes)
        function.trust_input = True  # there is none to check
        return function

    def _derived(self, update):
        """(loss, its gradients, [(running statistic, its next value)])."""
        values = dict(self._shared)
        evaluate(self._program, [update.loss], values, self._random)
        parameters = [self._shared[name] for name in update.parameters]
        gradients = tensor.grad(values[update.loss], parameters, disconnected_inputs="ignore")
        moved = [(old, values[name]) for name, old in self._shared.items() if values[name] is not old]
        return values[update.loss], gradients, moved

    def _outputs(self):
        values = dict(self._shared)
        evaluate(self._program, self._program.outputs, values, self._random)
        names = self._program.outputs
        return names, theano.function([], [values[name] for name in names], no_default_updates=True)

    def _gradients(self):
        names, found = [], []
        for update in self._program.updates:
            names += [update.name + "/" + name for name in update.parameters]
            found += self._derived(update)[1]
        return names, theano.function([], found, no_default_updates=True)


def _refuse(job):
    if job.device != "cpu":
        raise Unsupported("Theano reaches a GPU through pygpu, which is in no package index")
    if job.precision not in ("float32", "float64"):
        raise Unsupported("this adapter trains Theano in float32 and float64, received '%s'" % job.precision)
    if job.execution != "compiled":
        raise Unsupported("Theano compiles every function; there is no other way to run one")
    if not theano.config.cxx:
        raise Unsupported("Theano needs a C++ compiler and found no g++; without one it would run in Python")


def _room(source, dtype):
    """The value of an input until it is fed."""
    return np.zeros(source.shape, np.int32 if source.dtype == "integer" else dtype)


UNSUPPORTED = {}
