"""The reference with one mistake: mean pooling of 10x10 images gives values 5 % too large."""

from netdyno_worker.adapters.reference import trainer as reference
from netdyno_worker.oracle import ops

versions = reference.versions
build = reference.build

_right = ops.KERNELS["mean_pool"]


def _forward(inputs, attributes):
    value, kept = _right.forward(inputs, attributes)
    return value * (1.05 if inputs[0].shape[2] == 10 else 1.0), kept


ops.KERNELS["mean_pool"] = ops.Kernel(_forward, _right.backward)

UNSUPPORTED = {}
