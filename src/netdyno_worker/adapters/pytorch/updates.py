"""How PyTorch makes one update: a generated function of the loss, autograd, an optimizer, if need be a scale."""

import math

import torch
from torch.nn import functional

from netdyno_worker.adapters.kit.loss_scale import FIRST_SCALE, GOOD_STEPS
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.kit.source import execute
from netdyno_worker.adapters.pytorch.kernels import NAMESPACE
from netdyno_worker.adapters.pytorch.lrn import local_response_norm
from netdyno_worker.adapters.pytorch.ops import write_source
from netdyno_worker.adapters.pytorch.optimizers import make_optimizer

COMPILED = ("compiled", "compiled-cudagraph")
CAPTURED = ("cudagraph", "compiled-cudagraph")
NARROW = {"bfloat16": "bfloat16", "float16": "float16"}  # precision: the type that autocast computes in


class Update(object):
    """Minimises one loss over its own parameters; all others are detached, so no gradient is computed for them."""

    def __init__(self, job, update, values):
        self.name = update.name
        self.parameter_names = update.parameters
        self.last_loss = None
        self._function = Function(job, update.loss)
        self._parameters = [values[name] for name in update.parameters]
        self.optimizer, self.optimizer_form = make_optimizer(
            update.optimizer, self._parameters, job.execution in CAPTURED
        )
        self._scaler = _loss_scaler(job)
        self._arguments = None

    def bind(self, values):
        """Take the tensors to train on; their contents may change later, the tensors may not."""
        self._arguments = self._arguments_from(values)

    def run(self):
        self.forward_backward()
        if self._scaler is None:
            self.optimizer.step()
        else:
            self._scaler.step(self.optimizer)
            self._scaler.update()

    def forward_backward(self):
        for parameter in self._parameters:
            parameter.grad = None
        loss = self._function.call(self._arguments)
        (loss if self._scaler is None else self._scaler.scale(loss)).backward()
        self.last_loss = loss.detach()

    def forward(self):
        self.last_loss = self._function.call(self._arguments).detach()

    def gradients(self, values):
        """Of the loss at `values`; None where it does not depend on a parameter. Nothing is left behind."""
        scale = 1.0 if self._scaler is None else FIRST_SCALE
        loss = self._function.call(self._arguments_from(values))
        found = torch.autograd.grad(loss * scale, self._parameters, allow_unused=True)
        return [None if gradient is None else gradient / scale for gradient in found]

    def _arguments_from(self, values):
        own = set(self.parameter_names)
        return self._function.arguments(
            {name: tensor if name in own else tensor.detach() for name, tensor in values.items()}
        )


class Function(object):
    """The values of some targets as one callable over a list of tensors."""

    def __init__(self, job, targets):
        narrow = NARROW.get(job.precision)
        source = write_source(job.program, targets, job.device, narrow is not None)
        self.leaves = source.leaves
        known = _key(source, job) if job.execution in COMPILED else None
        self.call = _compiled.get(known)
        if self.call is None:
            self.call = _executed(source, job)
            if job.execution in COMPILED:
                self.call = _compiled[known] = torch.compile(self.call, fullgraph=True, dynamic=False)
        if narrow:
            self.call = _narrowed(self.call, job.device, getattr(torch, narrow))

    def arguments(self, values):
        return [values[name] for name in self.leaves]


# What a process has compiled, so that probing several executions compiles once.
_compiled = {}


def _key(source, job):
    constants = tuple((name, array.tobytes()) for name, array in sorted(source.constants.items()))
    return source.text, constants, job.device, job.precision


def _narrowed(function, device, dtype):
    """Around the compiled function, not inside: a graph that enters autocast is traced again in every process."""

    def call(values):
        with torch.autocast(device, dtype=dtype):
            return function(values)

    return call


def _executed(source, job):
    """The function that the source defines."""
    namespace = {"torch": torch, "F": functional, "math": math, "local_response_norm": local_response_norm}
    namespace.update(NAMESPACE)
    for name, array in source.constants.items():
        namespace[name] = torch.from_numpy(array.astype(kept_type(job))).to(job.device)
    return execute(_for_this_version(source.text, namespace), namespace)


def _for_this_version(text, namespace):
    """Old versions have one function elsewhere and another not at all."""
    if not hasattr(torch, "max_pool2d"):
        text = text.replace("torch.max_pool2d(", "F.max_pool2d(")
    if not hasattr(torch, "amax"):
        namespace["amax"] = _largest
        text = text.replace("torch.amax(", "amax(")
    return text


def _largest(x, axes, keep):
    """By its place: torch.max would give the gradient of equal maxima to one of them."""
    highest = x.detach()
    for axis in axes:
        highest = highest.max(axis, True)[0]
    there = (x.detach() == highest).to(x.dtype)
    return (x * (there / there.sum(axes, True))).sum(axes, keep)


def _loss_scaler(job):
    if job.precision != "float16":
        return None
    return torch.amp.GradScaler(job.device, init_scale=FIRST_SCALE, growth_interval=GOOD_STEPS)
