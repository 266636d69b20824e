"""Trains a program with Chainer: a generated straight-line Python function per update, and its own update rules.

Chainer builds its graph in every step, so nothing else may: no links, no type checks. On a CPU arrays are iDeep's.
"""

from collections import OrderedDict

import chainer
import numpy as np
from chainer import functions
from chainer.backends import cuda, intel64

from netdyno_worker.adapters.chainer.batch_norm import batch_norm_for
from netdyno_worker.adapters.chainer.layouts import plain_for, response_norm
from netdyno_worker.adapters.chainer.ops import write_source
from netdyno_worker.adapters.chainer.optimizers import Optimizer
from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.kit.source import execute
from netdyno_worker.contract import Trainer, Unsupported
from netdyno_worker.program import layer_places


def versions():
    found = {"chainer": chainer.__version__, "numpy": np.__version__}
    if intel64.is_ideep_available():
        found["ideep4py"] = intel64.ideep.__version__
    if cuda.available:
        found["cupy"] = cuda.cupy.__version__
    return found


def build(job):
    _refuse(job)
    device = _device(job)
    device.use()
    device.xp.random.seed(job.seed % 2**32)
    chainer.global_config.use_ideep = "auto"
    chainer.global_config.type_check = False  # the graph has been checked
    chainer.global_config.autotune = True
    return ChainerTrainer(job, device)


class ChainerTrainer(Trainer):
    """Each update has its own function of its loss, its own arguments and its own rules."""

    def __init__(self, job, device):
        self._program = job.program
        self._device = device
        self._dtype = kept_type(job)
        self._state = {p.name for p in job.program.parameters if not p.trainable}
        self._images = {i.name for i in job.program.inputs if i.kind == "image"}
        self._loose = _loose(job.program)
        self._batch_norm = batch_norm_for(job.threads, device)
        self._values = OrderedDict((p.name, self._parameter(p, job.initial)) for p in job.program.parameters)
        self._updates = [_Update(job.program, update, self) for update in job.program.updates]
        self._outputs = None

    def feed(self, batch):
        for name, array in batch.items():
            kind = np.int32 if array.dtype.kind == "i" else self._dtype
            self._values[name] = self._constant(name, np.array(array, dtype=kind))
        for update in self._updates:
            update.bind(self._values)

    def step(self):
        for update in self._updates:
            update.run()

    def wait(self):
        if self._device.xp is not np:
            cuda.Stream.null.synchronize()

    def reserved_bytes(self):
        """The size of the memory pool, which never shrinks; Chainer keeps no peak of what is in use."""
        return None if self._device.xp is np else cuda.memory_pool.total_bytes()

    def pipeline(self, files):
        try:
            from netdyno_worker.adapters.chainer.pipeline import FolderPipeline
        except ImportError as error:
            raise Unsupported("Chainer opens images with Pillow, which is missing (%s); use packed data" % error)
        return FolderPipeline(files, filled_inputs(self._program, files), self.feed)

    def settings(self):
        return {
            "layout": "nchw",
            "device": self._device.name,
            "use_ideep": chainer.config.use_ideep,
            "type_check": chainer.config.type_check,
            "batch_norm_backward": "one thread" if self._device.name == "@intel64" else "native",
        }

    def function(self, targets):
        """(callable over a list of values, their names)."""
        namespace = {
            "F": functions,
            "xp": self._device.xp,
            "dtype": self._dtype,
            "as_variable": chainer.as_variable,
            "batch_norm": self._batch_norm,
            "plain": plain_for(self._device),
            "response_norm": response_norm,
        }
        source = write_source(self._program, targets)
        for name, array in source.constants.items():
            array = array.astype(self._dtype)
            namespace[name] = array if self._device.xp is np else self._device.send(array)
        return execute(source.text, namespace), source.leaves

    def _constant(self, name, array):
        """On the device, without a gradient. Device.send would convert images to iDeep's layout of weights."""
        is_image = self._device.name == "@intel64" and name in self._images
        placed = intel64.ideep.array(array) if is_image else self._device.send(array)
        return chainer.Variable(placed, requires_grad=False)

    def _parameter(self, parameter, initial):
        """Running statistics stay plain arrays, which batch normalisation changes in place."""
        array = np.array(initial(parameter.name), dtype=self._dtype)
        if not parameter.trainable:
            return array if self._device.xp is np else self._device.send(array)
        value = chainer.Parameter(array)
        if self._device.xp is not np or parameter.name not in self._loose:
            value.to_device(self._device)
        return value

    def _read_outputs(self):
        if self._outputs is None:
            self._outputs = self.function(self._program.outputs)
        compute, leaves = self._outputs
        values = self._with_copied_state()
        with chainer.no_backprop_mode():
            found = compute([values[name] for name in leaves])
        return {name: self._array(value) for name, value in zip(self._program.outputs, found)}

    def _read_parameters(self):
        return {p.name: self._array(self._values[p.name]) for p in self._program.parameters}

    def _read_losses(self):
        return {update.name: float(update.last_loss) for update in self._updates}

    def _read_gradients(self):
        found = {}
        for update in self._updates:
            for name, value in update.gradients(self._with_copied_state()).items():
                whole = np.zeros(self._values[name].shape, self._dtype) if value is None else self._array(value)
                found[update.name + "/" + name] = whole
        return found

    def _with_copied_state(self):
        """The same values, but copies of those that a forward pass would move."""
        return {name: value.copy() if name in self._state else value for name, value in self._values.items()}

    def _array(self, value):
        """A copy: the value's own memory would change with the next step."""
        return np.array(cuda.to_cpu(chainer.as_array(value)), order="C")


class _Update(object):
    """Minimises one loss over its own parameters; all others are constants and cost no gradient."""

    def __init__(self, program, update, trainer):
        self.name = update.name
        self.last_loss = float("nan")
        self._names = update.parameters
        self._foreign = {p.name for p in program.parameters if p.trainable} - set(update.parameters)
        self._compute, self._leaves = trainer.function(update.loss)
        self._optimizer = Optimizer(update.optimizer, len(update.parameters))
        self._parameters = []
        self._arguments = []

    def bind(self, values):
        """Take what to train on; the arrays' contents may change later, the arrays may not."""
        self._parameters = [values[name] for name in self._names]
        self._arguments = self._arguments_from(values)

    def run(self):
        loss = self._compute(self._arguments)
        for parameter in self._parameters:
            parameter.cleargrad()
        loss.backward()
        self.last_loss = loss.array
        del loss  # which frees the whole graph
        self._optimizer.update(self._parameters)

    def gradients(self, values):
        """{parameter: gradient}, None where the loss does not depend on it. Nothing is left behind."""
        loss = self._compute(self._arguments_from(values))
        return dict(zip(self._names, chainer.grad([loss], self._parameters)))

    def _arguments_from(self, values):
        return [
            chainer.Variable(values[name].array, requires_grad=False) if name in self._foreign else values[name]
            for name in self._leaves
        ]


def _refuse(job):
    if job.execution != "eager":
        raise Unsupported("Chainer runs op by op; it has nothing that compiles")
    if job.precision not in ("float32", "float64"):
        raise Unsupported("this adapter trains Chainer in float32: iDeep has no convolution in '%s'" % job.precision)
    if job.device == "cuda" and not cuda.available:
        raise Unsupported("Chainer reaches a GPU through CuPy, which finds none here")


def _loose(program):
    """Parameters that are used as values: iDeep arrays do not accept every gradient, for example a slice."""
    return {
        name
        for node in program.nodes
        for place, name in enumerate(node.inputs)
        if place not in layer_places(program, node)
    }


def _device(job):
    """iDeep computes in float32 alone."""
    if job.device == "cuda":
        return chainer.get_device("@cupy:0")
    has_ideep = job.precision == "float32" and intel64.is_ideep_available()
    return chainer.get_device("@intel64" if has_ideep else "@numpy")


UNSUPPORTED = {
    "reduce_max": "Chainer gives each of several equal maxima the whole gradient",
}
