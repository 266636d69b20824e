"""Trains a program with PyTorch: generated straight-line functions, autograd, the library's own optimizers."""

import linecache
import math
from collections import OrderedDict

import numpy as np
import torch
from torch.nn import functional

from netdyno_worker.adapters._pytorch_lrn import local_response_norm
from netdyno_worker.adapters._pytorch_optimizers import make_optimizer
from netdyno_worker.adapters._pytorch_source import write_source
from netdyno_worker.contract import Trainer, Unsupported

# None in a torch before 1.5, which has neither layouts to choose from nor anything that came after them.
CHANNELS_LAST = getattr(torch, "channels_last", None)


def versions():
    found = {"torch": torch.__version__, "numpy": np.__version__}
    if torch.version.cuda:
        found["cuda"] = torch.version.cuda
        found["cudnn"] = str(torch.backends.cudnn.version())
    return found


def build(job):
    _refuse(job)
    torch.set_num_threads(job.threads)
    torch.manual_seed(job.seed)
    _allow_tf32(job.precision == "tf32")
    torch.backends.cudnn.benchmark = job.device == "cuda"
    return TorchTrainer(job)


class TorchTrainer(Trainer):
    """Each update has its own function of its loss, its own arguments and its own optimizer."""

    def __init__(self, job):
        self._job = job
        self._program = job.program
        self._layout = _layout(job)
        self._values = OrderedDict((p.name, self._parameter(p)) for p in job.program.parameters)
        self._updates = [_Update(job, update, self._values) for update in job.program.updates]
        self._outputs = None

    def feed(self, batch):
        for name, array in batch.items():
            self._values[name] = self._placed(array)
        for update in self._updates:
            update.bind(self._values)

    def step(self):
        for update in self._updates:
            update.run()

    def wait(self):
        if self._job.device == "cuda":
            torch.cuda.synchronize()

    def peak_bytes(self):
        return torch.cuda.max_memory_allocated() if self._job.device == "cuda" else None

    def settings(self):
        chosen = {
            "layout": "nhwc" if self._layout and self._layout is CHANNELS_LAST else "nchw",
            "optimizer": ", ".join(u.optimizer_form for u in self._updates),
            "autocast": "bfloat16" if self._job.precision == "bfloat16" else "off",
            "tf32": self._job.precision == "tf32",
            "threads": torch.get_num_threads(),
        }
        if self._job.device == "cuda":
            chosen["cudnn_benchmark"] = torch.backends.cudnn.benchmark
        return chosen

    def _parameter(self, parameter):
        tensor = self._placed(self._job.initial(parameter.name))
        return torch.nn.Parameter(tensor) if parameter.trainable else tensor

    def _placed(self, array):
        """A copy on the device; whole numbers as the losses want them, images in the chosen layout."""
        tensor = torch.from_numpy(np.array(array, dtype=np.int64 if array.dtype.kind == "i" else np.float32))
        if tensor.dim() != 4 or self._layout is None:
            return tensor.to(self._job.device)
        # Not .contiguous(): it leaves the strides of one-channel images, and convolutions read the layout there.
        return tensor.to(device=self._job.device, memory_format=self._layout)

    def _read_outputs(self):
        if self._outputs is None:
            self._outputs = _Function(self._job, self._program.outputs)
        values = self._outputs.arguments(_with_copied_state(self._values))
        with torch.no_grad():
            found = self._outputs.call(values)
        return {name: _array(tensor) for name, tensor in zip(self._program.outputs, found)}

    def _read_losses(self):
        return {update.name: float(update.last_loss) for update in self._updates}

    def _read_gradients(self):
        found = {}
        for update in self._updates:
            gradients = update.gradients(_with_copied_state(self._values))
            for name, tensor in zip(update.parameter_names, gradients):
                whole = torch.zeros_like(self._values[name]) if tensor is None else tensor
                found[update.name + "/" + name] = _array(whole)
        return found

    def _read_parameters(self):
        return {p.name: _array(self._values[p.name]) for p in self._program.parameters}


class _Update(object):
    """Minimises one loss over its own parameters; all others come in detached, so no gradient is spent on them."""

    def __init__(self, job, update, values):
        self.name = update.name
        self.parameter_names = update.parameters
        self.last_loss = None
        self._function = _Function(job, update.loss)
        self._parameters = [values[name] for name in update.parameters]
        self._optimizer, self.optimizer_form = make_optimizer(update.optimizer, self._parameters)
        self._arguments = None

    def bind(self, values):
        """Take the tensors to train on; their contents may change later, the tensors may not."""
        self._arguments = self._arguments_from(values)

    def run(self):
        for parameter in self._parameters:
            parameter.grad = None
        loss = self._function.call(self._arguments)
        loss.backward()
        self._optimizer.step()
        self.last_loss = loss.detach()

    def gradients(self, values):
        """Of the loss at `values`; None where it does not depend on a parameter. Nothing is left behind."""
        loss = self._function.call(self._arguments_from(values))
        return torch.autograd.grad(loss, self._parameters, allow_unused=True)

    def _arguments_from(self, values):
        own = set(self.parameter_names)
        return self._function.arguments(
            {name: tensor if name in own else tensor.detach() for name, tensor in values.items()}
        )


class _Function(object):
    """The values of some targets as one callable over a list of tensors."""

    def __init__(self, job, targets):
        narrow = job.precision == "bfloat16"
        source = write_source(job.program, targets, job.device, narrow)
        self.leaves = source.leaves
        self.call = _executed(source, job.device)
        if narrow:
            self.call = _autocast(self.call, job.device)
        if job.execution == "compiled":
            self.call = torch.compile(self.call, fullgraph=True, dynamic=False)

    def arguments(self, values):
        return [values[name] for name in self.leaves]


def _executed(source, device):
    """The function that the source defines; its lines are kept where tracebacks look for them."""
    namespace = {"torch": torch, "F": functional, "math": math, "local_response_norm": local_response_norm}
    for name, array in source.constants.items():
        namespace[name] = torch.from_numpy(array).to(device)
    text = source.text
    if not hasattr(torch, "max_pool2d"):
        text = text.replace("torch.max_pool2d(", "F.max_pool2d(")  # where old versions have it
    filename = "<network %d>" % len(linecache.cache)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), namespace)
    return namespace["compute"]


def _autocast(function, device):
    def narrowed(values):
        with torch.autocast(device, dtype=torch.bfloat16):
            return function(values)

    return narrowed


def _refuse(job):
    if job.device == "cuda" and not torch.cuda.is_available():
        raise Unsupported("torch %s finds no CUDA device" % torch.__version__)
    if job.precision == "float16":
        raise Unsupported("float16 needs loss scaling, which this adapter does not do; bfloat16 does not need it")
    if job.precision == "tf32" and job.device != "cuda":
        raise Unsupported("tf32 is a mode of CUDA devices, received device '%s'" % job.device)
    if CHANNELS_LAST is None and job.precision != "float32":
        raise Unsupported("torch %s trains in float32 only here" % torch.__version__)
    if job.execution == "compiled" and not hasattr(torch, "compile"):
        raise Unsupported("torch %s has no torch.compile" % torch.__version__)


def _allow_tf32(allowed):
    """Older versions than the first switch have nothing to allow or forbid."""
    if not hasattr(torch, "set_float32_matmul_precision"):
        return
    torch.set_float32_matmul_precision("high" if allowed else "highest")
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def _layout(job):
    """A memory format, or None where there is only one."""
    if CHANNELS_LAST is None:
        return None
    if job.device == "cuda" and job.precision == "float32":
        return torch.contiguous_format
    return CHANNELS_LAST


def _with_copied_state(values):
    """The same tensors, but copies of those that a forward pass would move."""
    return {name: t if t.requires_grad else t.clone() for name, t in values.items()}


def _array(tensor):
    """A copy: on a CPU the tensor's own memory would change with the next step."""
    return np.array(tensor.detach().float().cpu().numpy(), order="C")


UNSUPPORTED = {}
