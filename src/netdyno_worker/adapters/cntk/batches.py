"""Which values CNTK keeps per sample and which it keeps whole, and how one becomes the other.

A value that is computed from what is fed has CNTK's batch axis, which no shape shows: the graph's (batch, …) is (…)
per sample there, and (batch · k, …), such as all steps of a batch of texts in one row of vectors, is (k, …). What is
computed from parameters alone is whole: it has the graph's shape and no batch axis. So is what mixes samples.

A scalar per sample stands for its mean over the batch. That allows what is linear in it; for all else it is made
whole.
"""

from functools import reduce
from math import gcd

import cntk
import numpy as np

from netdyno_worker.contract import Unsupported


def is_whole(value):
    return not value.dynamic_axes


def batch_of(program):
    """The number of samples: what divides the first axes of all inputs."""
    return reduce(gcd, [source.shape[0] for source in program.inputs if source.shape], 0) or 1


class Batches(object):
    """The forms of values in batches of `size` samples."""

    def __init__(self, size):
        self.size = size

    def fits(self, shape):
        """Whether a value of this shape can be kept per sample."""
        return bool(shape) and shape[0] % self.size == 0

    def hides_first(self, shape):
        """Whether the first axis is the batch and nothing else, so that it is not seen per sample."""
        return bool(shape) and shape[0] == self.size

    def inner(self, shape):
        """What is seen of a shape per sample."""
        if not shape or self.hides_first(shape):
            return tuple(shape[1:])
        return (shape[0] // self.size,) + tuple(shape[1:])

    def dealt(self, value, shape):
        """Per sample."""
        if not is_whole(value):
            return value
        if not self.fits(shape):
            raise Unsupported(
                "CNTK has one batch axis for all values: of %d samples, received %s" % (self.size, shape)
            )
        return cntk.to_batch(cntk.reshape(value, (self.size,) + self.inner(shape)))

    def whole(self, value, shape):
        """With the graph's shape."""
        if is_whole(value):
            return value
        if not shape:
            return cntk.reduce_sum(value, cntk.Axis.default_batch_axis()) * (1.0 / self.size)
        return cntk.reshape(cntk.unpack_batch(value), shape)

    def alike(self, values, shapes, mixes=False):
        """All whole if they are so already or samples are mixed, else all per sample."""
        if mixes or all(is_whole(value) for value in values):
            return [self.whole(*pair) for pair in zip(values, shapes)]
        return [self.dealt(*pair) for pair in zip(values, shapes)]

    def shape_like(self, value, shape):
        """A graph's shape as one lies that is whole or per sample as `value` is."""
        return tuple(shape) if is_whole(value) else self.inner(shape)


def element_count(shape):
    return int(np.prod(shape, dtype=np.int64))
