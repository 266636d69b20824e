"""The reference with one mistake: the second convolution's gradients are 5 % too large."""

from netdyno_worker.adapters.reference import trainer as reference
from netdyno_worker.oracle import ops

SECOND = (16, 6, 5, 5)

versions = reference.versions
build = reference.build

_right = ops.KERNELS["convolution"]


def _forward(inputs, attributes):
    value, kept = _right.forward(inputs, attributes)
    return value, (inputs[1].shape, kept)


def _backward(gradient, kept, needed):
    shape, kept = kept
    return _right.backward(gradient * (1.05 if shape == SECOND else 1.0), kept, needed)


ops.KERNELS["convolution"] = ops.Kernel(_forward, _backward)

UNSUPPORTED = {}
