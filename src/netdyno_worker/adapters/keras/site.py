"""A node where it is translated: its inputs as Keras tensors, and how they lie in memory."""

from collections import namedtuple

import keras
from keras import ops

# A node, its inputs as Keras tensors, the graph's shape and kind of the first of them, the axes of its windows if it
# has any, the layout, a seed if it draws.
Site = namedtuple("Site", "node inputs shape kind axes layout seed")


class Layout(namedtuple("Layout", "channels_last")):
    """The order of the axes of images in memory."""

    @property
    def data_format(self):
        return "channels_last" if self.channels_last else "channels_first"

    @property
    def channel_axis(self):
        return -1 if self.channels_last else 1

    def reorders(self, kind):
        """Whether values of that kind have other axes in memory than in the graph."""
        return self.channels_last and kind == "image"

    def shape(self, shape, kind):
        """The shape in memory of a value with that shape and kind in the graph."""
        return (shape[0], shape[2], shape[3], shape[1]) if self.reorders(kind) else tuple(shape)

    def alike(self, x, have, want):
        """`x` of kind `have` with its axes as those of kind `want`."""
        if self.reorders(have) == self.reorders(want):
            return x
        return keras.layers.Permute((2, 3, 1) if self.reorders(want) else (3, 1, 2))(x)

    def axis(self, axis, kind):
        """Where one of the graph's axes is in memory."""
        return self.order(kind, 4).index(axis) if self.reorders(kind) else axis

    def order(self, kind, rank):
        """Which of the graph's axes come one after the other in memory."""
        return (0, 2, 3, 1) if self.reorders(kind) else tuple(range(rank))

    def padded(self, x, padding, value=0.0):
        """`x` with (top, bottom, left, right) more rows and columns."""
        top, bottom, left, right = padding
        widths = [(0, 0), (0, 0), (top, bottom), (left, right)]
        return ops.pad(x, self.shape(widths, "image"), "constant", constant_values=value)


def wide(value):
    """In the type of the weights, whatever the layers before it compute in: as losses and sums are."""
    kept = keras.config.floatx()
    return value if keras.backend.standardize_dtype(value.dtype) == kept else ops.cast(value, kept)


def narrowed(value, like):
    """In the type of another."""
    return value if value.dtype == like.dtype else ops.cast(value, like.dtype)
