"""Trains a program with Paddle: generated straight-line functions in dygraph or to_static, its own optimizers."""

import linecache

import numpy as np
import paddle
from paddle.nn import functional

from netdyno_worker.adapters._paddle_lrn import local_response_norm
from netdyno_worker.adapters._paddle_source import transposed_parameters, write_source
from netdyno_worker.adapters._pipeline_inputs import filled_inputs
from netdyno_worker.contract import Trainer, Unsupported


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
    if job.device == "cuda":
        _forbid_tf32()
    return PaddleTrainer(job)


class PaddleTrainer(Trainer):
    """Each update has its own function of its loss and its own optimizer; all share the tensors."""

    def __init__(self, job):
        self._job = job
        self._program = job.program
        self._transposed = transposed_parameters(job.program)
        self._scales = _variance_scales(job)
        self._values = {p.name: self._parameter(p) for p in job.program.parameters}
        self._updates = [_Update(job, update, self._values) for update in job.program.updates]
        self._outputs = None

    def feed(self, batch):
        kinds = {name: np.int64 if array.dtype.kind == "i" else np.float32 for name, array in batch.items()}
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
            from netdyno_worker.adapters._paddle_pipeline import FolderPipeline
        except ImportError as error:
            raise Unsupported("Paddle opens images with Pillow, which is missing (%s); use packed data" % error)
        return FolderPipeline(files, filled_inputs(self._program, files), self._place)

    def settings(self):
        kinds = ", ".join(type(update.optimizer).__name__ for update in self._updates)
        return {"layout": "nchw", "optimizer": kinds, "threads": self._job.threads}

    def _parameter(self, parameter):
        array = self._job.initial(parameter.name)
        if not parameter.trainable:
            return paddle.to_tensor(array * np.float32(self._scales.get(parameter.name, 1.0)))
        array = np.ascontiguousarray(array.T) if parameter.name in self._transposed else array
        start = paddle.nn.initializer.Assign(array)
        return paddle.create_parameter(list(array.shape), "float32", default_initializer=start)

    def _read_outputs(self):
        if self._outputs is None:
            self._outputs = _Eager(self._program, self._program.outputs)
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
        found.update({name: found[name] / np.float32(scale) for name, scale in self._scales.items()})
        return found

    def _array(self, name, tensor):
        array = np.array(tensor.numpy())
        return np.ascontiguousarray(array.T) if name in self._transposed else array


class _Update(object):
    """Minimises one loss over its own parameters; others come in detached, so no gradient is spent on them."""

    def __init__(self, job, update, values):
        self.name = update.name
        self.last_loss = None
        self._names = update.parameters
        self._parameters = [values[name] for name in update.parameters]
        self.optimizer = _optimizer(update.optimizer, self._parameters)
        form = _Compiled if job.execution == "compiled" else _Eager
        self._function = form(job.program, update.loss)

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

    def __init__(self, program, targets):
        self._source = write_source(program, targets)
        self._compute = _executed(self._source)
        self._arguments = None

    def bind(self, values):
        self._arguments = [values[name] for name in self._source.leaves]

    def call(self):
        return self._compute(self._arguments)


class _Compiled(object):
    """The same through to_static: parameters are a layer's own, inputs its arguments."""

    def __init__(self, program, targets):
        self._source = write_source(program, targets, attributes=True)
        self._layer = None
        self._inputs = None

    def bind(self, values):
        if self._layer is None:
            self._layer = paddle.jit.to_static(self._make(values), full_graph=True)
        self._inputs = [values[name] for name in self._source.inputs]

    def call(self):
        return self._layer(*self._inputs)

    def _make(self, values):
        layer = type("Network", (paddle.nn.Layer,), {"forward": _executed(self._source)})()
        for number, name in enumerate(self._source.leaves):
            if name in self._source.inputs:
                continue
            add = layer.register_buffer if values[name].stop_gradient else layer.add_parameter
            add("v%d" % number, values[name])
        return layer


class _Unmoved(object):
    """While open, a forward pass may move running statistics; afterwards they are as before."""

    def __init__(self, values, program):
        self._state = [values[p.name] for p in program.parameters if not p.trainable]

    def __enter__(self):
        self._copies = [tensor.clone() for tensor in self._state]

    def __exit__(self, *error):
        for tensor, copy in zip(self._state, self._copies):
            paddle.assign(copy, tensor)


def _executed(source):
    """The function that the source defines; its lines are kept where to_static and tracebacks look for them."""
    namespace = {"paddle": paddle, "F": functional, "local_response_norm": local_response_norm}
    filename = "<network %d>" % len(linecache.cache)
    linecache.cache[filename] = (len(source.text), None, source.text.splitlines(True), filename)
    exec(compile(source.text, filename, "exec"), namespace)
    return namespace["compute"]


def _optimizer(rule, parameters):
    rate = rule["learning_rate"]
    if rule["kind"] == "adam":
        return paddle.optimizer.Adam(rate, rule["beta1"], rule["beta2"], rule["epsilon"], parameters)
    if rule["kind"] == "momentum":
        return paddle.optimizer.Momentum(rate, rule["momentum"], parameters)
    return paddle.optimizer.SGD(rate, parameters)


def _variance_scales(job):
    """{running variance: factor}, by which Paddle's is smaller than the graph's.

    On a CPU it averages the biased variance, on some GPUs the unbiased one; the two differ by a constant.
    """
    nodes = [node for node in job.program.nodes if node.op == "batch_norm"]
    if not nodes or not _averages_biased():
        return {}
    scales = {}
    for node in nodes:
        count = float(np.prod(node.shape)) / node.shape[1]
        scale = (count - 1.0) / count if count > 1 else 1.0
        if scales.setdefault(node.inputs[4], scale) != scale:
            raise Unsupported("running variance '%s' serves batches of two sizes" % node.inputs[4])
    return scales


def _averages_biased():
    """Ask the library: of 0 and 2 the biased variance is 1, the unbiased 2."""
    mean, variance = paddle.zeros([1]), paddle.zeros([1])
    x = paddle.to_tensor([[[[0.0]]], [[[2.0]]]])
    functional.batch_norm(x, mean, variance, paddle.ones([1]), paddle.zeros([1]), True, 0.0)
    return variance.numpy()[0] < 1.5


def _forbid_tf32():
    """float32 is meant strictly."""
    paddle.base.core.set_cublas_switch(False)
    paddle.base.core.set_cudnn_switch(False)


def _refuse(job):
    if job.precision != "float32":
        raise Unsupported(
            "this adapter trains Paddle in float32: on a CPU it has no convolution in '%s', and its auto_cast "
            "silently computes in float32" % job.precision
        )
    if job.device == "cuda" and not (paddle.is_compiled_with_cuda() and paddle.device.cuda.device_count()):
        raise Unsupported("paddle %s finds no CUDA device" % paddle.__version__)


UNSUPPORTED = {}
FUSED = {"global_mean_pool", "local_response_norm"}
