"""Trains a program with PyTorch: a generated straight-line Python function per update, autograd, fused optimizers.

Without modules a step has nothing between its ops; compiled, torch.compile sees the function as one graph; a CUDA
graph replays the whole step.
"""

import importlib
from collections import OrderedDict

import numpy as np
import torch

from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.pytorch.capture import Captured
from netdyno_worker.adapters.pytorch.feed import feeder
from netdyno_worker.adapters.pytorch.updates import CAPTURED, COMPILED, NARROW, Function, Update
from netdyno_worker.contract import Trainer, Unsupported
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.program import kinds

# None in a torch before 1.5, which has neither layouts nor any later feature that this adapter uses.
CHANNELS_LAST = getattr(torch, "channels_last", None)
if hasattr(torch, "compile"):
    # Every optimizer imports it, which takes half as long as importing torch and must not count as building.
    importlib.import_module("torch._dynamo")


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
    torch.set_default_dtype(getattr(torch, kept_type(job).name))  # of what is drawn
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
        self._updates = [Update(job, update, self._values) for update in job.program.updates]
        self._fed = None  # names of the inputs, once there are tensors for them
        self._copy = feeder(job.device)
        self._outputs = None
        self._recorded = []
        self._step = self._record_and_step if job.execution in CAPTURED else self._each_update("run")

    def feed(self, batch):
        if self._fed is None:
            self._feed_first(batch)
        else:
            self._copy([self._values[name] for name in self._fed], [batch[name] for name in self._fed])

    def _feed_first(self, batch):
        """Steps are bound to these tensors; later batches are copied into them."""
        self._fed = sorted(batch)
        known = kinds(self._program)
        self._values.update((name, self._placed(batch[name], known[name])) for name in self._fed)
        for update in self._updates:
            update.bind(self._values)

    def step(self):
        self._step()

    def _record_and_step(self):
        """The first step records all the others."""
        self._step = self._capture(self._each_update("run"))
        self._step()

    def _capture(self, function):
        optimizers = [update.optimizer for update in self._updates]
        tensors = [self._values[p.name] for p in self._program.parameters]
        self._recorded.append(Captured(function, optimizers, tensors))
        return self._recorded[-1].replay

    def wait(self):
        if self._job.device == "cuda":
            torch.cuda.synchronize()

    def peak_bytes(self):
        if self._job.device != "cuda":
            return None
        return max([torch.cuda.max_memory_allocated()] + [step.peak_bytes for step in self._recorded])

    def reserved_bytes(self):
        return torch.cuda.max_memory_reserved() if self._job.device == "cuda" else None

    def forget_peak(self):
        if self._job.device == "cuda":
            torch.cuda.reset_peak_memory_stats()

    def stages(self):
        parts = [("forward", "forward"), ("backward", "forward_backward"), ("update", "run")]
        functions = [(stage, self._each_update(method)) for stage, method in parts]
        if self._job.execution in CAPTURED:
            functions = [(stage, self._capture(function)) for stage, function in functions]
        return functions

    def _each_update(self, method):
        calls = [getattr(update, method) for update in self._updates]

        def call_all():
            for call in calls:
                call()

        return call_all

    def pipeline(self, files):
        try:
            from netdyno_worker.adapters.pytorch.pipeline import FolderPipeline
        except ImportError as error:
            raise Unsupported("images are opened with Pillow, which is missing (%s); use packed data" % error)
        inputs = filled_inputs(self._program, files)
        if self._fed is None:
            self.feed(synthetic_batch(self._program, self._job.seed))  # makes the tensors that steps are bound to
        return FolderPipeline(files, inputs, self._values)

    def settings(self):
        chosen = {
            "layout": "nhwc" if self._layout and self._layout is CHANNELS_LAST else "nchw",
            "optimizer": ", ".join(u.optimizer_form for u in self._updates),
            "autocast": NARROW.get(self._job.precision, "off"),
            "tf32": self._job.precision == "tf32",
            "threads": torch.get_num_threads(),
        }
        if self._job.device == "cuda":
            chosen["cudnn_benchmark"] = torch.backends.cudnn.benchmark
        return chosen

    def _parameter(self, parameter):
        tensor = self._placed(self._job.initial(parameter.name), parameter.kind)
        return torch.nn.Parameter(tensor) if parameter.trainable else tensor

    def _placed(self, array, kind):
        """A copy on the device; whole numbers as the losses want them, images and kernels in the chosen layout."""
        tensor = torch.from_numpy(
            np.array(array, dtype=np.int64 if array.dtype.kind == "i" else kept_type(self._job))
        )
        if kind not in ("image", "kernel") or self._layout is None:
            return tensor.to(self._job.device)
        # Not .contiguous(): it leaves the strides of one-channel images, and convolutions read the layout there.
        return tensor.to(device=self._job.device, memory_format=self._layout)

    def _read_outputs(self):
        if self._outputs is None:
            self._outputs = Function(self._job, self._program.outputs)
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


def _refuse(job):
    if job.device == "cuda" and not torch.cuda.is_available():
        raise Unsupported("torch %s finds no CUDA device" % torch.__version__)
    if job.execution in CAPTURED and job.device != "cuda":
        raise Unsupported("a CUDA graph needs a CUDA device, received device '%s'" % job.device)
    if job.precision == "tf32" and job.device != "cuda":
        raise Unsupported("tf32 is a mode of CUDA devices, received device '%s'" % job.device)
    if CHANNELS_LAST is None and job.precision not in ("float32", "float64"):
        raise Unsupported("torch %s trains in float32 and float64 only here" % torch.__version__)
    if job.execution in COMPILED and not hasattr(torch, "compile"):
        raise Unsupported("torch %s has no torch.compile" % torch.__version__)


def _allow_tf32(allowed):
    """Versions before the first of these switches have no TF32."""
    if not hasattr(torch, "set_float32_matmul_precision"):
        return
    torch.set_float32_matmul_precision("high" if allowed else "highest")
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def _layout(job):
    """A memory format, or None where there is only one."""
    if CHANNELS_LAST is None:
        return None
    if job.device == "cuda" and job.precision in ("float32", "float64"):
        return torch.contiguous_format
    return CHANNELS_LAST


def _with_copied_state(values):
    """The same tensors, but copies of those that a forward pass would move."""
    return {name: t if t.requires_grad else t.clone() for name, t in values.items()}


def _array(tensor):
    """A copy: on a CPU the tensor's own memory would change with the next step."""
    tensor = tensor.detach().cpu()
    return np.array((tensor if tensor.dtype == torch.float64 else tensor.float()).numpy(), order="C")


UNSUPPORTED = {}
