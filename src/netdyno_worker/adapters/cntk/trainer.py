"""Trains a program with CNTK: a static graph and a Trainer for each update.

A step is one train_minibatch, which runs in C++; the batch is placed on the device once and stays there.
"""

import ctypes
import sys

import cntk
import numpy as np

from netdyno_worker.adapters.cntk.leaves import Leaves
from netdyno_worker.adapters.cntk.ops import per_sample, translate
from netdyno_worker.adapters.cntk.optimizers import learner_for
from netdyno_worker.adapters.cntk.pipeline import MapPipeline
from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.contract import Trainer, Unsupported


def versions():
    return {"cntk": cntk.__version__, "numpy": np.__version__}


def build(job):
    if job.execution != "compiled":
        raise Unsupported("CNTK trains static graphs; it has no other execution")
    if job.precision not in ("float32", "float64"):
        raise Unsupported("this adapter trains CNTK in float32 and float64, received '%s'" % job.precision)
    _choose_device(job.device)
    _limit_threads(job.threads)
    cntk.cntk_py.set_fixed_random_seed(job.seed % 2**31)
    return CntkTrainer(job)


class CntkTrainer(Trainer):
    """Parameters are shared by all functions: those that train, and those that only read."""

    def __init__(self, job):
        self._job = job
        self._device = _device(job.device)
        self._leaves = Leaves(job)
        self._updates = [_Update(job, update, self._leaves) for update in job.program.updates]
        self._reading = None
        self._batch = None
        self._placed = {}

    def feed(self, batch):
        self._batch = batch
        self._place()

    def step(self):
        for update in self._updates:
            update.run(self._device)

    def wait(self):
        """CNTK returns from a CPU when it is done; on a GPU, reading a loss waits for everything before it."""
        if self._job.device == "cuda":
            self._updates[-1].last_loss()

    def pipeline(self, files):
        return MapPipeline(files, filled_inputs(self._job.program, files), self.feed)

    def settings(self):
        return {
            "layout": "nchw",
            "loop": "Trainer.train_minibatch",
            "optimizer": ", ".join(update.learner for update in self._updates),
            "threads": self._job.threads,
        }

    def _place(self):
        self._placed = self._leaves.placed(self._batch, self._device)
        for update in self._updates:
            update.bind(self._placed)

    def _readers(self):
        """Functions of outputs and losses that leave running statistics alone; made when first needed."""
        if self._reading is None:
            losses = [update.loss for update in self._job.program.updates]
            targets = self._job.program.outputs + losses
            self._reading = translate(self._job, targets, self._leaves, spare=True)
            self._reading.update({name: per_sample(self._reading[name], self._leaves) for name in losses})
            self._place()  # reading may need variables that training does not
        return self._reading

    def _read_outputs(self):
        """CNTK is in training mode only where it keeps state for a backward pass: so that of the loss is kept."""
        readers, names = self._readers(), self._job.program.outputs
        roots = [cntk.alias(readers[name]) for name in names + [self._job.program.updates[0].loss]]
        function = cntk.combine(roots)
        arguments = _arguments(function, self._placed)
        _, found = function.forward(arguments, function.outputs, {function.outputs[-1]}, self._device)
        shapes = {node.name: node.shape for node in self._job.program.nodes}
        arrays = [np.asarray(found[output], dtype=self._leaves.dtype) for output in function.outputs]
        return {
            name: array.reshape(shapes[name]) if shapes.get(name, True) else array.mean(dtype=np.float64)
            for name, array in zip(names, arrays)
        }

    def _read_losses(self):
        return {update.name: update.last_loss() for update in self._updates}

    def _read_gradients(self):
        readers, found = self._readers(), {}
        for update in self._updates:
            gradients = update.gradients(readers[update.loss_name], self._placed, self._device)
            for name in update.parameter_names:
                value = gradients.get(name, np.zeros(self._leaves.parameters[name].shape, self._leaves.dtype))
                found[update.name + "/" + name] = self._leaves.array(name, value)
        return found

    def _read_parameters(self):
        return {name: self._leaves.array(name, p.value) for name, p in self._leaves.parameters.items()}


class _Update(object):
    """Minimises one loss over those of its parameters that the loss depends on."""

    def __init__(self, job, update, leaves):
        self.name = update.name
        self.loss_name = update.loss
        self.parameter_names = update.parameters
        self.learner = update.optimizer["kind"]
        reached = _reached(job.program, update.loss)
        self._trained = {name: leaves.parameters[name] for name in update.parameters if name in reached}
        if not self._trained:
            raise Unsupported("update '%s' has no parameter that its loss depends on" % update.name)
        self._batch = leaves.batches.size
        self._loss = per_sample(translate(job, [update.loss], leaves)[update.loss], leaves)
        learner = learner_for(update.optimizer, list(self._trained.values()), self._batch)
        self._trainer = cntk.Trainer(None, self._loss, [learner])
        self._arguments = None

    def bind(self, placed):
        self._arguments = _arguments(self._loss, placed)

    def run(self, device):
        self._trainer.train_minibatch(self._arguments, device=device)

    def last_loss(self):
        return float(self._trainer.previous_minibatch_loss_average)

    def gradients(self, loss, placed, device):
        """{parameter name: gradient of the mean loss}, without those that it does not depend on."""
        wanted = list(self._trained.values())
        found = loss.grad(_arguments(loss, placed), wanted, device=device)
        if len(wanted) == 1:
            found = {wanted[0]: found}
        return {name: np.asarray(found[p]) / self._batch for name, p in self._trained.items()}


def _arguments(function, placed):
    return {variable: placed[variable.uid] for variable in function.arguments}


def _reached(program, loss):
    """The names of the values that a loss's gradient reaches."""
    nodes = {node.name: node for node in program.nodes}
    reached, waiting = set(), [loss]
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        if name in nodes and not program.facts[nodes[name].op].blocks_gradient:
            waiting.extend(nodes[name].inputs)
    return reached


def _limit_threads(threads):
    """CNTK counts the machine's CPUs, whatever OMP_NUM_THREADS says.

    With one thread requested, a second one that CNTK has already made has nothing to do but would spin.
    """
    cntk.cntk_py.set_max_num_cputhreads(threads)
    if threads == 1 and sys.platform.startswith("linux"):
        ctypes.CDLL("libiomp5.so").kmp_set_blocktime(0)  # the one that CNTK has loaded


def _device(kind):
    return cntk.device.gpu(0) if kind == "cuda" else cntk.device.cpu()


def _choose_device(kind):
    """For the whole process, and before anything is made on a device."""
    if kind == "cuda" and not any(d.type() == cntk.device.DeviceKind.GPU for d in cntk.device.all_devices()):
        raise Unsupported("this CNTK finds no GPU: its package for GPUs is cntk-gpu, and wants CUDA 9 or 10")
    if not cntk.device.try_set_default_device(_device(kind)):
        raise Unsupported("CNTK already computes on another device than '%s' in this process" % kind)


UNSUPPORTED = {}
