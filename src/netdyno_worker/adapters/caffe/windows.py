"""Which symmetric padding gives Caffe the windows that a node asks for, and which of its windows are the node's.

Caffe pads both sides of an axis alike, and its pools round the number of windows up. A node's windows are then some
of those that Caffe computes: enough padding, in whole strides over the wanted near side, and a crop of the rest.
"""

from collections import namedtuple

import numpy as np

from netdyno_worker.adapters.kit.windows import edges, window_count

# padding: on both sides; first: the node's first window among Caffe's; count: how many Caffe computes.
Fit = namedtuple("Fit", "padding first count")


def fit_convolution(axis):
    """The smallest sufficient padding; zeros beyond the node's own padding lie in windows that are cropped."""
    padding = axis.near
    while True:
        first = (padding - axis.near) // axis.stride
        count = window_count(axis, padding)
        if count - first >= axis.count:
            return Fit(padding, first, count)
        padding += axis.stride


def fit_pool(pair, floor):
    """A Fit for each of the two axes, or None if no padding gives the windows.

    `floor`: round the number of windows down, which later builds of Caffe can do.
    """
    for height in _paddings(pair[0]):
        for width in _paddings(pair[1]):
            padded = height > 0 or width > 0
            fits = [_pooled(axis, padding, padded, floor) for axis, padding in zip(pair, (height, width))]
            if all(fits):
                return fits
    return None


def is_exact(pair, fits):
    """Whether Caffe's windows are the node's, so that nothing need be cropped."""
    return all(fit.first == 0 and fit.count == axis.count for axis, fit in zip(pair, fits))


def reaches_outside(pair, fits):
    """Whether a window reaches over padding or an edge, where libraries disagree about the mean."""
    return any(
        fit.padding > 0 or (fit.count - 1) * axis.stride + axis.kernel > axis.size for axis, fit in zip(pair, fits)
    )


def mean_corrections(pair, fits):
    """Factors for the node's means, because Caffe counts padding in its divisor; None if all are 1."""
    ratios = []
    for axis, fit in zip(pair, fits):
        starts = (np.arange(axis.count) + fit.first) * axis.stride - fit.padding
        ends = np.minimum(starts + axis.kernel, axis.size + fit.padding)
        first, end = edges(axis)
        ratios.append((ends - starts) / (end - first).astype(np.float64))
    correction = np.outer(*ratios)
    return None if np.all(correction == 1.0) else correction


def _paddings(axis):
    """The candidates: a pool's padding must be smaller than its window."""
    return range(axis.near, axis.kernel, axis.stride)


def _pooled(axis, padding, padded, floor):
    """What a pool does along an axis, or None if that lacks a wanted window or has one wholly outside the image."""
    count = window_count(axis, padding, ceil=not floor)
    if padded and (count - 1) * axis.stride >= axis.size + padding:
        count -= 1
    first = (padding - axis.near) // axis.stride
    outside = (count - 1) * axis.stride - padding >= axis.size
    return None if outside or count - first < axis.count else Fit(padding, first, count)
