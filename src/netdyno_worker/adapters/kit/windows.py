"""Where the windows of a convolution or pool lie: how many there are, and how much of each is inside the image.

All of it is computed while a network is built, never in a step.
"""

from collections import namedtuple

import numpy as np

# Along one axis: the image's length, the window's, its stride, the padding before the image, the number of windows.
Axis = namedtuple("Axis", "size kernel stride near count")

_VECTOR = 16  # float32 numbers in the longest vector of a CPU


def axes_of(node, shapes):
    """The vertical and the horizontal Axis of a convolution or pool; `shapes` has the shape of every value."""
    kernel = node.attributes.get("kernel") or shapes[node.inputs[1]][2:]
    return axes_over(shapes[node.inputs[0]][2:], kernel, node.attributes)


def axes_over(image, kernel, attributes):
    """The same for windows of size `kernel` over an `image`, both as (rows, columns)."""
    found = []
    for i in (0, 1):
        before, after = attributes["padding"][2 * i : 2 * i + 2]
        stride = attributes["strides"][i]
        count = (image[i] + before + after - kernel[i]) // stride + 1
        found.append(Axis(image[i], kernel[i], stride, before, count))
    return found


def near_padding(axes):
    """(top, left)."""
    return tuple(axis.near for axis in axes)


def window_count(axis, padding, ceil=False):
    """How many windows there are with `padding` on both sides; with `ceil` the last may reach over the far edge."""
    spare = axis.stride - 1 if ceil else 0
    return (axis.size + 2 * padding - axis.kernel + spare) // axis.stride + 1


def find_rounding(axes, roundings=(False, True), count=window_count):
    """The `ceil` with which a library that pads both sides of an axis by `near` takes these windows; None if none is.

    What padding holds never counts in a pool, so a window is known by where it starts: only the padding before the
    image and the number of windows matter, not how far they reach over the far edge.
    """
    for ceil in roundings:
        if all(count(axis, axis.near, ceil) == axis.count for axis in axes):
            return ceil
    return None


def same_sides(axis):
    """(before, after): the padding that several libraries call "same"."""
    total = max((-(-axis.size // axis.stride) - 1) * axis.stride + axis.kernel - axis.size, 0)
    return total // 2, total - total // 2


def needs_subsampling(axes, channels):
    """Whether a convolution on a CPU must take every stride-th pixel first, and then stride no more.

    Over images with channels last, oneDNN computes the weight's gradient of a strided 1×1 kernel in whole vectors. If
    a pixel has fewer channels than a vector, it writes past its memory (AVX-512), or the gradient is wrong (AVX2).
    """
    pointwise = all(axis.kernel == 1 for axis in axes)
    return pointwise and any(axis.stride > 1 for axis in axes) and channels < _VECTOR


def edges(axis):
    """(first, end) of each window, without what lies outside the image."""
    starts = np.arange(axis.count) * axis.stride - axis.near
    return np.maximum(starts, 0), np.minimum(starts + axis.kernel, axis.size)


def inside_counts(axes):
    """How many elements of each window are inside the image, as an array (rows, columns)."""
    return np.outer(*[end - first for first, end in map(edges, axes)])


def inside_shares(axes):
    """The part of each window that is inside the image, likewise: what a mean over whole windows is divided by."""
    return inside_counts(axes) / float(axes[0].kernel * axes[1].kernel)
