"""How the oracle slides a window over images: convolution and pooling, forward and backward.

A convolution gathers windows into the columns of a matrix and multiplies once per group, a band of rows at a time so
that they stay in a cache, bands and images side by side in threads; pooling walks the positions of its kernel, each a
strided slice of the whole batch.
"""

from collections import namedtuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from netdyno_worker.oracle.rounding import EXACT
from netdyno_worker.oracle.threads import side_by_side

COLUMN_BYTES = 4 * 2**20

# kernel, strides: (rows, columns). padding: (top, bottom, left, right). height, width: how many windows there are.
Windows = namedtuple("Windows", "kernel strides padding height width")
# `rows` rows of windows, from `first` on; `points` selects their outputs in a flattened image.
Band = namedtuple("Band", "first rows points")


def convolution(inputs, attributes):
    x, weight = inputs[0], inputs[1]
    groups, threads = attributes["groups"], attributes.get("threads", 1)
    windows = _windows(x, weight.shape[2:], attributes)
    matrix = _as_matrix(weight, groups)
    value = np.empty((len(x), groups, matrix.shape[1], windows.height * windows.width))

    def slide(image, out, band):
        np.matmul(matrix, _columns(image, windows, groups, band), out=out[:, :, band.points])

    side_by_side(threads, slide, _jobs(x, value, windows))
    rounding = attributes.get("rounding", EXACT)
    value = value.reshape(len(x), len(weight), windows.height, windows.width)
    value = rounding.product(value, matrix.shape[2], x, weight)
    if len(inputs) > 2:
        value += inputs[2][:, None, None]
    return value, (x, weight, windows, groups, threads, rounding)


def convolution_backward(gradient, kept, needed):
    x, weight, windows, groups, _, rounding = kept
    per_group = gradient.reshape(len(x), groups, len(weight) // groups, -1)
    found = [None] * len(needed)
    if needed[0]:
        count = _products_of_image(weight, windows, groups)
        found[0] = rounding.product(_image_gradient(per_group, kept), count, gradient, weight)
    if needed[1]:
        count = len(x) * windows.height * windows.width
        found[1] = rounding.product(_weight_gradient(per_group, kept), count, gradient, x)
    if len(needed) > 2:
        found[2] = rounding.sum(gradient, (0, 2, 3))
    return found


def transposed_convolution(inputs, attributes):
    """What a convolution with this weight gives back to its image, whose gradient is `x`."""
    x, weight = inputs[0], inputs[1]
    image = np.broadcast_to(0.0, _transposed_shape(x, weight, attributes))
    windows = _windows(image, weight.shape[2:], attributes)
    groups, threads = attributes["groups"], attributes.get("threads", 1)
    rounding = attributes.get("rounding", EXACT)
    value = _image_gradient(_by_group(x, groups), (image, weight, windows, groups, threads, rounding))
    value = rounding.product(value, _products_of_image(weight, windows, groups), x, weight)
    if len(inputs) > 2:
        value += inputs[2][:, None, None]
    return value, (x, weight, attributes)


def transposed_convolution_backward(gradient, kept, needed):
    x, weight, attributes = kept
    found = [None] * len(needed)
    to_x, of_convolution = convolution([gradient, weight], attributes)
    found[0] = to_x
    if needed[1]:
        count = len(x) * x.shape[2] * x.shape[3]
        found[1] = _weight_gradient(_by_group(x, attributes["groups"]), of_convolution)
        found[1] = attributes.get("rounding", EXACT).product(found[1], count, x, gradient)
    if len(needed) > 2:
        found[2] = attributes.get("rounding", EXACT).sum(gradient, (0, 2, 3))
    return found


def max_pool(inputs, attributes):
    """Keeps which kernel position won; the first one does on a tie."""
    windows = _windows(inputs[0], attributes["kernel"], attributes)
    places = _places(_padded(inputs[0], windows, -np.inf), windows)
    value = next(places).copy()
    winner = np.zeros(value.shape, dtype=np.uint16)
    second, runner_up = np.full(value.shape, -np.inf), winner.copy()
    for index, candidate in enumerate(places, 1):
        beaten = candidate > value
        if attributes.get("flips"):
            loser = np.where(beaten, value, candidate)
            closer = loser > second
            runner_up[closer] = np.where(beaten, winner, index)[closer]
            np.maximum(second, loser, out=second)
        winner[beaten] = index
        np.maximum(value, candidate, out=value)
    if attributes.get("flips"):
        near, chosen = attributes["flips"]
        turned = (value - second < near) & chosen(value.shape)
        value, winner = np.where(turned, second, value), np.where(turned, runner_up, winner)
    return value, (inputs[0].shape, windows, winner)


def max_pool_backward(gradient, kept, needed):
    shape, windows, winner = kept
    padded = _zeros_padded(shape, windows)
    for index, place in enumerate(_places(padded, windows)):
        place += gradient * (winner == index)
    return [_inside(padded, shape, windows)]


def mean_pool(inputs, attributes):
    """Padding counts in neither the sum nor the divisor."""
    x = inputs[0]
    windows = _windows(x, attributes["kernel"], attributes)
    total = sum(_places(_padded(x, windows, 0.0), windows))
    counts = sum(_places(_padded(np.ones(x.shape[2:]), windows, 0.0), windows))
    return total / counts, (x.shape, windows, counts)


def mean_pool_backward(gradient, kept, needed):
    shape, windows, counts = kept
    share = gradient / counts
    padded = _zeros_padded(shape, windows)
    for place in _places(padded, windows):
        place += share
    return [_inside(padded, shape, windows)]


def _weight_gradient(per_group, kept):
    x, weight, windows, groups, threads, _ = kept

    def slide(image, gradient, band):
        columns = _columns(image, windows, groups, band)
        return np.matmul(gradient[:, :, band.points], columns.transpose(0, 2, 1))

    return sum(side_by_side(threads, slide, _jobs(x, per_group, windows))).reshape(weight.shape)


def _image_gradient(per_group, kept):
    x, weight, windows, groups, threads, _ = kept
    matrix = _as_matrix(weight, groups)
    found = np.empty(x.shape)

    def slide(image, gradient):
        padded = _zeros_padded(image.shape, windows)
        for band in _bands(len(image), windows):
            columns = np.matmul(matrix.transpose(0, 2, 1), gradient[:, :, band.points])
            _scatter(columns, padded[:, band.first * windows.strides[0] :], windows, band)
        image[...] = _inside(padded, image.shape, windows)

    side_by_side(threads, slide, zip(found, per_group))
    return found


def _by_group(x, groups):
    return x.reshape(len(x), groups, x.shape[1] // groups, -1)


def _transposed_shape(x, weight, attributes):
    top, bottom, left, right = attributes["padding"]
    height = (x.shape[2] - 1) * attributes["strides"][0] + weight.shape[2] - top - bottom
    width = (x.shape[3] - 1) * attributes["strides"][1] + weight.shape[3] - left - right
    return (len(x), weight.shape[1] * attributes["groups"], height, width)


def _products_of_image(weight, windows, groups):
    """How many products a number of an image's gradient adds up, on average."""
    return weight.size / (weight.shape[1] * windows.strides[0] * windows.strides[1] * groups)


def _scatter(columns, padded, windows, band):
    """Add every column back to the window that it was gathered from."""
    banded = windows._replace(height=band.rows)
    columns = columns.reshape((len(padded), -1, band.rows, windows.width))
    for index, place in enumerate(_places(padded, banded)):
        place += columns[:, index]


def _jobs(x, others, windows):
    """(image, what belongs to it, band): each image padded once."""
    bands = list(_bands(x.shape[1], windows))
    return [(image, other, band) for image, other in zip(_padded(x, windows, 0.0), others) for band in bands]


def _columns(padded, windows, groups, band):
    """The matrices (groups, channels of a group * kernel, windows) of a band: one window a column.

    A 1x1 kernel without strides reads the image as it lies: there the reshape copies nothing.
    """
    channel, row, column = padded.strides
    down, across = windows.strides
    view = as_strided(
        padded[:, band.first * down :],
        shape=(len(padded),) + tuple(windows.kernel) + (band.rows, windows.width),
        strides=(channel, row, column, row * down, column * across),
        writeable=False,
    )
    return view.reshape(groups, -1, band.rows * windows.width)


def _bands(channels, windows):
    """Bands of rows whose columns fit in COLUMN_BYTES; one band where the columns are the image itself."""
    row_bytes = 8 * channels * windows.kernel[0] * windows.kernel[1] * windows.width
    at_once = max(1, COLUMN_BYTES // row_bytes)
    if tuple(windows.kernel) == (1, 1) and tuple(windows.strides) == (1, 1):
        at_once = windows.height
    for first in range(0, windows.height, at_once):
        rows = min(at_once, windows.height - first)
        yield Band(first, rows, slice(first * windows.width, (first + rows) * windows.width))


def _as_matrix(weight, groups):
    return weight.reshape(groups, len(weight) // groups, -1)


def _windows(x, kernel, attributes):
    strides, padding = attributes["strides"], attributes["padding"]
    height = (x.shape[2] + padding[0] + padding[1] - kernel[0]) // strides[0] + 1
    width = (x.shape[3] + padding[2] + padding[3] - kernel[1]) // strides[1] + 1
    return Windows(kernel, strides, padding, height, width)


def _places(padded, windows):
    """For each position of the kernel, a view of what every window has there."""
    down, across = windows.strides
    for row in range(windows.kernel[0]):
        rows = slice(row, row + (windows.height - 1) * down + 1, down)
        for column in range(windows.kernel[1]):
            columns = slice(column, column + (windows.width - 1) * across + 1, across)
            yield padded[..., rows, columns]


def _padded(x, windows, value):
    if not any(windows.padding):
        return x
    padded = np.full(_padded_shape(x.shape, windows), value)
    _inside(padded, x.shape, windows)[...] = x
    return padded


def _zeros_padded(shape, windows):
    return np.zeros(_padded_shape(shape, windows))


def _padded_shape(shape, windows):
    top, bottom, left, right = windows.padding
    return tuple(shape[:-2]) + (shape[-2] + top + bottom, shape[-1] + left + right)


def _inside(padded, shape, windows):
    """The part of a padded array that is not padding."""
    top, _, left, _ = windows.padding
    return padded[..., top : top + shape[-2], left : left + shape[-1]]
