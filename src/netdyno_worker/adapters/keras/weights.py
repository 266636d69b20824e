"""Which Keras variable holds a parameter of the graph, and how arrays are converted both ways."""

from collections import namedtuple

import numpy as np

from netdyno_worker.adapters.kit.statistics import unbiased_over_biased

# store(array of the graph) gives what the variable holds; load(what it holds) gives the array of the graph.
Slot = namedtuple("Slot", "variable store load")


def plain(variable):
    return Slot(variable, _same, _same)


def image(variable):
    """A parameter that is used as an image with channels last."""
    return _reordered(variable, (0, 2, 3, 1))


def kernel(variable):
    """Of a convolution: Keras keeps rows, columns, inputs, outputs in every layout."""
    return _reordered(variable, (2, 3, 1, 0))


def matrix(variable, rows=None):
    """Of a linear layer; `rows` is (channels, height, width) if an image is flattened channels last."""
    if rows is None:
        return _reordered(variable, (1, 0))
    channels, height, width = rows

    def store(array):
        ordered = array.reshape(-1, channels, height, width).transpose(2, 3, 1, 0)
        return ordered.reshape(channels * height * width, -1)

    def load(held):
        ordered = held.reshape(height, width, channels, -1).transpose(3, 2, 0, 1)
        return ordered.reshape(-1, channels * height * width)

    return Slot(variable, store, load)


def biased_variance(variable, count):
    """A running variance of `count` values a step, of which Keras averages the biased one: see kit.statistics."""
    factor = unbiased_over_biased(count)
    return Slot(variable, lambda array: array / factor, lambda held: held * factor)


def _reordered(variable, axes):
    back = tuple(int(axis) for axis in np.argsort(axes))
    return Slot(variable, lambda array: array.transpose(axes), lambda held: held.transpose(back))


def _same(array):
    return array
