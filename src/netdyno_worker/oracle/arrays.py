"""What the operations along axes compute in the oracle, forward and backward: shapes, sums, products, lookups."""

import numpy as np

from netdyno_worker.oracle.rounding import EXACT


def flatten(inputs, attributes):
    return inputs[0].reshape(len(inputs[0]), -1), inputs[0].shape


def flatten_backward(gradient, shape, needed):
    return [gradient.reshape(shape)]


def reshape(inputs, attributes):
    return inputs[0].reshape(attributes["shape"]), inputs[0].shape


reshape_backward = flatten_backward


def transpose(inputs, attributes):
    return inputs[0].transpose(attributes["axes"]), attributes["axes"]


def transpose_backward(gradient, axes, needed):
    return [gradient.transpose(np.argsort(axes))]


def slice_(inputs, attributes):
    window = (slice(None),) * attributes["axis"] + (slice(attributes["start"], attributes["stop"]),)
    return inputs[0][window], (inputs[0].shape, window)


def slice_backward(gradient, kept, needed):
    shape, window = kept
    found = np.zeros(shape)
    found[window] = gradient
    return [found]


def concat(inputs, attributes):
    axis = attributes.get("axis", 1)
    ends = np.cumsum([value.shape[axis] for value in inputs])
    return np.concatenate(inputs, axis=axis), (ends[:-1], axis)


def concat_backward(gradient, kept, needed):
    boundaries, axis = kept
    return np.split(gradient, boundaries, axis=axis)


def reduce_sum(inputs, attributes):
    x, axes = inputs[0], _sorted(attributes)
    total = attributes.get("rounding", EXACT).sum(x, axes)
    return _kept_axes(total, x, attributes), (x.shape, axes, 1)


def reduce_mean(inputs, attributes):
    x, axes = inputs[0], _sorted(attributes)
    total, count = attributes.get("rounding", EXACT).sum(x, axes), _count(x, axes)
    return _kept_axes(total / count, x, attributes), (x.shape, axes, count)


def reduce_backward(gradient, kept, needed):
    """Of a sum divided by `count`."""
    shape, axes, count = kept
    return [np.broadcast_to(gradient.reshape(_with_ones(shape, axes)) / count, shape)]


def reduce_max(inputs, attributes):
    """Equal maxima share the gradient."""
    x, axes = inputs[0], _sorted(attributes)
    order = tuple(axis for axis in range(x.ndim) if axis not in axes) + axes
    moved = x.transpose(order)
    rows = moved.reshape(-1, _count(x, axes))
    value = rows.max(axis=1)
    share = (rows == value[:, None]).astype(np.float64)
    if attributes.get("flips"):
        value, share = _flipped(rows, value, share, attributes["flips"])
    share /= share.sum(axis=1, keepdims=True)
    shares = share.reshape(moved.shape).transpose(np.argsort(order))
    value = value.reshape(moved.shape[: x.ndim - len(axes)])
    return _kept_axes(value, x, attributes), (shares, axes)


def reduce_max_backward(gradient, kept, needed):
    shares, axes = kept
    return [shares * gradient.reshape(_with_ones(shares.shape, axes))]


def softmax(inputs, attributes):
    axis, rounding = attributes["axis"], attributes.get("rounding", EXACT)
    powers = np.exp(inputs[0] - inputs[0].max(axis=axis, keepdims=True))
    value = powers / np.expand_dims(rounding.sum(powers, (axis,)), axis)
    return value, (value, axis, rounding)


def softmax_backward(gradient, kept, needed):
    value, axis, rounding = kept
    shared = value * gradient
    return [shared - value * np.expand_dims(rounding.sum(shared, (axis,)), axis)]


def matmul(inputs, attributes):
    (a, b), rounding = inputs, attributes.get("rounding", EXACT)
    return rounding.product(np.matmul(a, b), a.shape[-1], a, b), (a, b, rounding)


def matmul_backward(gradient, kept, needed):
    a, b, rounding = kept
    to_a = to_b = None
    if needed[0]:
        to_a = rounding.product(np.matmul(gradient, np.swapaxes(b, -1, -2)), b.shape[-1], gradient, b)
    if needed[1]:
        to_b = rounding.product(np.matmul(np.swapaxes(a, -1, -2), gradient), a.shape[-2], a, gradient)
    return [to_a, to_b]


def gather(inputs, attributes):
    table, indices = inputs
    return table[indices], (table.shape, indices, attributes.get("rounding", EXACT))


def gather_backward(gradient, kept, needed):
    """Gradients of a row that was taken more than once add up."""
    shape, indices, rounding = kept
    flat, gradients = indices.reshape(-1), gradient.reshape(-1, shape[1])
    order = np.argsort(flat, kind="mergesort")
    rows, starts = np.unique(flat[order], return_index=True)
    found = np.zeros(shape)
    for row, places in zip(rows, np.split(order, starts[1:])):
        found[row] = rounding.sum(gradients[places], (0,)) if len(places) > 1 else gradients[places[0]]
    return [found, None]


def one_hot(inputs, attributes):
    return (inputs[0][..., None] == np.arange(attributes["classes"])).astype(np.float64), None


def _flipped(rows, value, share, flips):
    """With the second largest in place of a largest that is hardly larger."""
    near, chosen = flips
    if rows.shape[1] < 2:
        return value, share
    places = np.argpartition(rows, -2, axis=1)[:, -2]
    second = rows[np.arange(len(rows)), places]
    turned = (value - second < near) & chosen(value.shape)
    alone = (np.arange(rows.shape[1]) == places[:, None]).astype(np.float64)
    return np.where(turned, second, value), np.where(turned[:, None], alone, share)


def _sorted(attributes):
    return tuple(sorted(attributes["axes"]))


def _count(x, axes):
    return int(np.prod([x.shape[axis] for axis in axes]))


def _kept_axes(value, x, attributes):
    return np.reshape(value, _with_ones(x.shape, attributes["axes"])) if attributes["keep"] else value


def _with_ones(shape, axes):
    return tuple(1 if axis in axes else length for axis, length in enumerate(shape))
