"""Trains a program with Paddle: a generated straight-line Python function per update, and its own optimizers.

Eager, the function runs op by op without a Layer around each; compiled, to_static turns the same source into a graph.
"""

import numpy as np
import paddle
from paddle.nn import functional

from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.kit.source import execute
from netdyno_worker.adapters.kit.statistics import variance_factors
from netdyno_worker.adapters.paddle import exact
from netdyno_worker.adapters.paddle.lrn import local_response_norm
from netdyno_worker.adapters.paddle.ops import transposed_parameters, write_source
from netdyno_worker.adapters.paddle.optimizers import make_optimizer
from netdyno_worker.contract import Trainer, Unsupported

# What the source calls besides `paddle` and `F`; exact.py has its own.
FUNCTIONS = {
    "batch_norm": functional.batch_norm,
    "local_response_norm": local_response_norm,
    "mean_pool": functional.avg_pool2d,
    "power": paddle.pow,
}


def versions():
    found = {"paddle": paddle.__version__, "numpy": np.__version__}
    if paddle.is_compiled_with_cuda():
        found["cuda"] = str(paddle.version.cuda())
        found["cudnn"] = str(paddle.version.cudnn())
    return found


def build(job):
    _refuse(job)
    paddle.set_device("gpu:0" if job.device == "cuda" else "cpu")
    paddle.base.core.set_num_threads(job.threads)
    paddle.seed(job.seed % 2**32)
    paddle.set_default_dtype(kept_type(job).name)
    if job.device == "cuda":
        _forbid_tf32()
    return PaddleTrainer(job)


class PaddleTrainer(Trainer):
    """Each update has its own function of its loss and its own optimizer; all share the tensors."""

    def __init__(self, job):
        self._job = job
        self._program = job.program
        self._dtype = kept_type(job)
        self._transposed = transposed_parameters(job.program)
        self._factors = _variance_factors(job.program)
        self._values = {p.name: self._parameter(p) for p in job.program.parameters}
        self._updates = [_Update(job, update, self._values) for update in job.program.updates]
        self._outputs = None

    def feed(self, batch):
        kinds = {name: np.int64 if array.dtype.kind == "i" else self._dtype for name, array in batch.items()}
        arrays = {name: np.ascontiguousarray(array, kinds[name]) for name, array in batch.items()}
        self._place({name: paddle.to_tensor(array) for name, array in arrays.items()})

    def _place(self, tensors):
        self._values.update(tensors)
        for update in self._updates:
            update.bind(self._values)

    def step(self):
        for update in self._updates:
            update.run()

    def wait(self):
        if self._job.device == "cuda":
            paddle.device.synchronize()

    def peak_bytes(self):
        return paddle.device.cuda.max_memory_allocated() if self._job.device == "cuda" else None

    def reserved_bytes(self):
        return paddle.device.cuda.max_memory_reserved() if self._job.device == "cuda" else None

    def forget_peak(self):
        if self._job.device == "cuda":
            paddle.device.cuda.reset_max_memory_allocated()
            paddle.device.cuda.reset_max_memory_reserved()

    def stages(self):
        return [
            ("forward", lambda: [update.forward() for update in self._updates]),
            ("backward", lambda: [update.backward() for update in self._updates]),
            ("update", self.step),
        ]

    def pipeline(self, files):
        try:
            from netdyno_worker.adapters.paddle.pipeline import FolderPipeline
        except ImportError as error:
            raise Unsupported("Paddle opens images with Pillow, which is missing (%s); use packed data" % error)
        return FolderPipeline(files, filled_inputs(self._program, files), self._place)

    def settings(self):
        kinds = ", ".join(type(update.optimizer).__name__ for update in self._updates)
        return {"layout": "nchw", "optimizer": kinds, "threads": self._job.threads}

    def _parameter(self, parameter):
        array = self._job.initial(parameter.name).astype(self._dtype, copy=False)
        if not parameter.trainable:
            return paddle.to_tensor(array / self._factor(parameter.name))
        array = np.ascontiguousarray(array.T) if parameter.name in self._transposed else array
        start = paddle.nn.initializer.Assign(array)
        return paddle.create_parameter(list(array.shape), self._dtype.name, default_initializer=start)

    def _read_outputs(self):
        if self._outputs is None:
            self._outputs = _Eager(self._job, self._program.outputs)
        self._outputs.bind(self._values)
        with _Unmoved(self._values, self._program), paddle.no_grad():
            found = self._outputs.call()
            return {name: np.array(tensor.numpy()) for name, tensor in zip(self._program.outputs, found)}

    def _read_losses(self):
        return {update.name: float(update.last_loss) for update in self._updates}

    def _read_gradients(self):
        found = {}
        for update in self._updates:
            with _Unmoved(self._values, self._program):
                gradients = update.gradients()
            for name, tensor in gradients.items():
                whole = paddle.zeros_like(self._values[name]) if tensor is None else tensor
                found[update.name + "/" + name] = self._array(name, whole)
        return found

    def _read_parameters(self):
        found = {p.name: self._array(p.name, self._values[p.name]) for p in self._program.parameters}
        found.update({name: found[name] * self._factor(name) for name in self._factors})
        return found

    def _factor(self, name):
        return self._dtype.type(self._factors.get(name, 1.0))

    def _array(self, name, tensor):
        array = np.array(tensor.numpy())
        return np.ascontiguousarray(array.T) if name in self._transposed else array


class _Update(object):
    """Minimises one loss over its own parameters; others are detached, so no gradient is computed for them."""

    def __init__(self, job, update, values):
        self.name = update.name
        self.last_loss = None
        self._names = update.parameters
        self._parameters = [values[name] for name in update.parameters]
        self.optimizer = make_optimizer(update.optimizer, self._parameters, job.precision)
        form = _Compiled if job.execution == "compiled" else _Eager
        self._function = form(job, update.loss)

    def bind(self, values):
        """Take the tensors to train on; their contents may change later, the tensors may not."""
        own = set(self._names)
        self._function.bind({name: t if name in own else t.detach() for name, t in values.items()})

    def run(self):
        loss = self._function.call()
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad(False)
        self.last_loss = loss

    def forward(self):
        self._function.call()

    def backward(self):
        self._function.call().backward()
        self.optimizer.clear_grad(False)

    def gradients(self):
        """{parameter: gradient} of the loss, None where it does not depend on one. Nothing is left behind."""
        gradients = paddle.grad(self._function.call(), self._parameters, allow_unused=True)
        return dict(zip(self._names, gradients))


class _Eager(object):
    """The values of some targets, computed op by op."""

    def __init__(self, job, targets):
        self._source = write_source(job, targets)
        self._compute = _executed(self._source, job.precision)
        self._arguments = None

    def bind(self, values):
        self._arguments = [values[name] for name in self._source.leaves]

    def call(self):
        return self._compute(self._arguments)


class _Compiled(object):
    """The same through to_static: parameters are a layer's own, inputs its arguments."""

    def __init__(self, job, targets):
        self._source = write_source(job, targets, attributes=True)
        self._precision = job.precision
        self._layer = None
        self._inputs = None

    def bind(self, values):
        if self._layer is None:
            self._layer = paddle.jit.to_static(self._make(values), full_graph=True)
        self._inputs = [values[name] for name in self._source.inputs]

    def call(self):
        return self._layer(*self._inputs)

    def _make(self, values):
        layer = type("Network", (paddle.nn.Layer,), {"forward": _executed(self._source, self._precision)})()
        for name, variable in self._source.leaves.items():
            if name not in self._source.inputs:
                add = layer.register_buffer if values[name].stop_gradient else layer.add_parameter
                add(variable, values[name])
        return layer


class _Unmoved(object):
    """A context in which a forward pass may move running statistics; they are restored afterwards."""

    def __init__(self, values, program):
        self._state = [values[p.name] for p in program.parameters if not p.trainable]

    def __enter__(self):
        self._copies = [tensor.clone() for tensor in self._state]

    def __exit__(self, *error):
        for tensor, copy in zip(self._state, self._copies):
            paddle.assign(copy, tensor)


def _executed(source, precision):
    """The function that the source defines."""
    functions = exact.FUNCTIONS if precision == "float64" else FUNCTIONS
    return execute(source.text, dict(functions, paddle=paddle, F=functional))


def _variance_factors(program):
    """{running variance: graph's over Paddle's}. On a CPU Paddle averages biased variances, on some GPUs unbiased."""
    return variance_factors(program) if _averages_biased() else {}


def _averages_biased():
    """Ask the library: of 0 and 2 the biased variance is 1, the unbiased 2."""
    mean, variance = paddle.zeros([1]), paddle.zeros([1])
    x = paddle.to_tensor([[[[0.0]]], [[[2.0]]]])
    functional.batch_norm(x, mean, variance, paddle.ones([1]), paddle.zeros([1]), True, 0.0)
    return variance.numpy()[0] < 1.5


def _forbid_tf32():
    """float32 means strict float32."""
    paddle.base.core.set_cublas_switch(False)
    paddle.base.core.set_cudnn_switch(False)


def _refuse(job):
    if job.precision not in ("float32", "float64"):
        raise Unsupported(
            "this adapter trains Paddle in float32 and float64: on a CPU it has no convolution in '%s', and its "
            "auto_cast silently computes in float32" % job.precision
        )
    if job.device == "cuda" and not (paddle.is_compiled_with_cuda() and paddle.device.cuda.device_count()):
        raise Unsupported("paddle %s finds no CUDA device" % paddle.__version__)


UNSUPPORTED = {}
