"""The oracle with the mistakes of the catalogue where a programme asks for one: what a mistake changes, exactly."""

import numpy as np
from netdyno_worker.adapters.wrong_rules import RULES, Library

from netdyno_worker.adapters.reference import trainer
from netdyno_worker.oracle import convolution, ops

versions = trainer.versions
build = trainer.build
UNSUPPORTED = {}


class _Biased(ops.Normalised):
    """What a batch norm keeps whose running variance is not made unbiased."""


def _transposed(weight):
    return np.swapaxes(weight, -1, -2)


def _flipped(weight):
    return weight[:, :, ::-1, ::-1]


def _half(array):
    return array.astype(np.float16).astype(np.float64)


def _with_weight(right, turn):
    """An op that reads its weight turned; the turn is its own inverse."""

    def forward(inputs, attributes):
        return right.forward([inputs[0], np.ascontiguousarray(turn(inputs[1]))] + list(inputs[2:]), attributes)

    def backward(gradient, kept, needed):
        found = list(right.backward(gradient, kept, needed))
        found[1] = None if found[1] is None else turn(found[1])
        return found

    return ops.Kernel(forward, backward)


def _in_half(right):
    """Values, weights and gradients are rounded to float16."""

    def forward(inputs, attributes):
        value, kept = right.forward([_half(array) for array in inputs[:2]] + list(inputs[2:]), attributes)
        return _half(value), kept

    def backward(gradient, kept, needed):
        found = right.backward(_half(gradient), kept, needed)
        return [_half(g) if place < 2 and g is not None else g for place, g in enumerate(found)]

    return ops.Kernel(forward, backward)


def _padded_with_zeros(inputs, attributes):
    """The zeros are part of a larger image; what they win is dropped with them."""
    top, bottom, left, right = attributes["padding"]
    x = np.pad(inputs[0], [(0, 0), (0, 0), (top, bottom), (left, right)], "constant")
    value, kept = ops.KERNELS["max_pool"].forward([x], dict(_without_mistake(attributes), padding=(0, 0, 0, 0)))
    return value, (kept, attributes["padding"])


def _padded_backward(gradient, kept, needed):
    kept, (top, bottom, left, right) = kept
    (found,) = ops.KERNELS["max_pool"].backward(gradient, kept, needed)
    return [found[:, :, top : found.shape[2] - bottom, left : found.shape[3] - right]]


def _counting_padding(inputs, attributes):
    value, (shape, windows, counts) = convolution.mean_pool(inputs, attributes)
    whole = np.full(counts.shape, float(windows.kernel[0] * windows.kernel[1]))
    return value * counts / whole, (shape, windows, whole)


def _channels_last(inputs, attributes):
    return inputs[0].transpose(0, 2, 3, 1).reshape(len(inputs[0]), -1), inputs[0].shape


def _channels_last_backward(gradient, shape, needed):
    count, channels, height, width = shape
    return [gradient.reshape(count, height, width, channels).transpose(0, 3, 1, 2)]


def _biased_norm(inputs, attributes):
    value, kept = ops.batch_norm(inputs, attributes)
    return value, _Biased(*kept)


MISTAKES = {
    ("convolution", "transposed"): _with_weight(ops.KERNELS["convolution"], _transposed),
    ("convolution", "flipped"): _with_weight(ops.KERNELS["convolution"], _flipped),
    ("convolution", "half"): _in_half(ops.KERNELS["convolution"]),
    ("linear", "transposed"): _with_weight(ops.KERNELS["linear"], _transposed),
    ("linear", "half"): _in_half(ops.KERNELS["linear"]),
    ("max_pool", "zeros"): ops.Kernel(_padded_with_zeros, _padded_backward),
    ("mean_pool", "counts padding"): ops.Kernel(_counting_padding, convolution.mean_pool_backward),
    ("flatten", "channels last"): ops.Kernel(_channels_last, _channels_last_backward),
    ("batch_norm", "biased"): ops.Kernel(_biased_norm, ops.batch_norm_backward),
}


def _without_mistake(attributes):
    return {name: value for name, value in attributes.items() if name != "mistake"}


def _choosing(op, right):
    """A kernel that is wrong where a node says so: what is kept says which one was used."""

    def forward(inputs, attributes):
        kernel = MISTAKES[op, attributes["mistake"]] if "mistake" in attributes else right
        value, kept = kernel.forward(inputs, attributes)
        return value, _Kept(kernel, kept)

    def backward(gradient, kept, needed):
        return kept.kernel.backward(gradient, kept.kept, needed)

    return ops.Kernel(forward, backward)


class _Kept:
    def __init__(self, kernel, kept):
        self.kernel, self.kept = kernel, kept


def _latest_state(kept):
    kept = kept.kept
    return (kept.mean, kept.variance) if isinstance(kept, _Biased) else ops.latest_state(kept)


def _without_first(gradient):
    found = np.array(gradient)
    found.flat[0] = 0.0
    return found


def _move_parameters(self, update, gradients):
    rule = RULES.get(update.optimizer["kind"])
    if rule is None:
        return _right_move(self, update, gradients)
    for name, gradient in gradients.items():
        moments = self._moments.setdefault((update.name, name), [0.0, 0.0])
        library = Library(np.sqrt, self._steps + 1, _without_first)
        change, moments[:] = rule(gradient, self._parameters[name], moments, update.optimizer, library)
        self._parameters[name] = self._parameters[name] - change


_right_move = trainer.ReferenceTrainer._move_parameters
trainer.ReferenceTrainer._move_parameters = _move_parameters
trainer.latest_state = _latest_state
trainer.KERNELS = {
    op: _choosing(op, kernel) if any(op == wrong for wrong, _ in MISTAKES) else kernel
    for op, kernel in ops.KERNELS.items()
}
