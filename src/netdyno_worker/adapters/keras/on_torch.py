"""How Keras trains on PyTorch: its train function over a batch that stays on the device."""

import keras
import numpy as np
import torch

from netdyno_worker.contract import Unsupported

CHANNELS_LAST = False  # Keras would copy every image twice to reorder it for PyTorch
TRACED = False
LABEL_TYPE = "int64"  # what the loss would convert to
_scopes = []  # of devices, referenced for the life of the process: Keras leaves a scope that is collected


def versions():
    found = {"torch": torch.__version__}
    if torch.version.cuda:
        found["cuda"] = torch.version.cuda
        found["cudnn"] = str(torch.backends.cudnn.version())
    return found


def prepare(job):
    if job.execution == "compiled":
        raise Unsupported(
            "compiled layer by layer, Keras soon reaches PyTorch's limit of recompilations and runs eagerly"
        )
    if job.device == "cuda" and not torch.cuda.is_available():
        raise Unsupported("torch %s finds no CUDA device" % torch.__version__)
    if job.device == "cpu" and torch.cuda.is_available():
        _scopes.append(keras.device("cpu"))
        _scopes[-1].__enter__()
    torch.set_num_threads(job.threads)
    torch.set_float32_matmul_precision("high" if job.precision == "tf32" else "highest")
    torch.backends.cuda.matmul.allow_tf32 = job.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = job.precision == "tf32"
    torch.backends.cudnn.benchmark = job.device == "cuda"


class Engine(object):
    """Calls the train functions of the models, which PyTorch runs op by op."""

    def __init__(self, models, job):
        self._models = models
        self._device = job.device
        narrow = job.device == "cuda" and job.precision in ("float32", "float64")
        self._memory_format = torch.contiguous_format if narrow else torch.channels_last
        self._bound = None
        self._batches = ()
        self._losses = ()
        for model in models:
            model.make_train_function()

    def place(self, array, kind):
        form = self._memory_format if kind == "image" else torch.contiguous_format
        return torch.from_numpy(array).to(device=self._device, memory_format=form)

    def bind(self, batches):
        """Later steps train on these."""
        self._batches = batches
        self._bound = [(model.train_function, [batch]) for model, batch in zip(self._models, batches)]

    def step(self):
        self._losses = [train(data)["loss"] for train, data in self._bound]

    def wait(self):
        if self._device == "cuda":
            torch.cuda.synchronize()

    def losses(self):
        return [float(loss) for loss in self._losses]

    def array(self, variable):
        return _array(variable.value)

    def outputs(self, model, batch):
        with torch.no_grad():
            found, _ = model.stateless_call(_copies(model.trainable_variables), _state(model), batch, training=True)
        return [_array(value) for value in (found if isinstance(found, (list, tuple)) else [found])]

    def gradients(self, model, batch):
        trained = [value.requires_grad_() for value in _copies(model.trainable_variables)]
        x, y = batch
        value, _ = model.stateless_call(trained, _state(model), x, training=True)
        loss = model.compute_loss(x, y, value) * model.scale
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        return [_array(torch.zeros_like(t) if g is None else g / model.scale) for g, t in zip(found, trained)]

    def forward(self):
        for model, (x, y) in zip(self._models, self._batches):
            model.compute_loss(x, y, model(x, training=True))

    def backward(self):
        for model, (x, y) in zip(self._models, self._batches):
            model.zero_grad()
            (model.compute_loss(x, y, model(x, training=True)) * model.scale).backward()

    def peak_bytes(self):
        return torch.cuda.max_memory_allocated() if self._device == "cuda" else None

    def reserved_bytes(self):
        return torch.cuda.max_memory_reserved() if self._device == "cuda" else None

    def forget_peak(self):
        if self._device == "cuda":
            torch.cuda.reset_peak_memory_stats()

    def pipeline(self, files, inputs, placed, bind):
        """Fills the tensors that steps already use, so nothing has to be bound again."""
        try:
            from netdyno_worker.adapters.pytorch.pipeline import FolderPipeline
        except ImportError as error:
            raise Unsupported("images are opened with Pillow, which is missing (%s); use packed data" % error)
        return FolderPipeline(files, inputs, placed)

    def settings(self):
        form = "channels last" if self._memory_format is torch.channels_last else "contiguous"
        return {"threads": torch.get_num_threads(), "memory_format": form}


def _copies(variables):
    return [variable.value.detach().clone() for variable in variables]


def _state(model):
    return _copies(model.non_trainable_variables)


def _array(tensor):
    """A copy: on a CPU the tensor's own memory would change with the next step."""
    tensor = tensor.detach().cpu()
    return np.array((tensor if tensor.dtype == torch.float64 else tensor.float()).numpy())
