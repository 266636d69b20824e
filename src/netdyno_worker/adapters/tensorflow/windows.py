"""How TensorFlow slides windows over NHWC images: which of its paddings is the graph's, and what to do if none is."""

from collections import namedtuple

import numpy as np
import tensorflow

tf = getattr(tensorflow.compat, "v1", tensorflow)  # the interface that versions 1 and 2 share

# image, count, kernel, strides, near: (vertical, horizontal); count: how many windows; near: padding at top and left.
Window = namedtuple("Window", "image count kernel strides near")


def window_of(node, shapes):
    """The window of a convolution or pool."""
    kernel = node.attributes.get("kernel") or shapes[node.inputs[1]][2:]
    top, _, left, _ = node.attributes["padding"]
    image = shapes[node.inputs[0]][2:]
    return Window(image, node.shape[2:], kernel, node.attributes["strides"], (top, left))


class Windows(object):
    """Convolutions and pools; the abilities say what this TensorFlow and device do by themselves."""

    def __init__(self, abilities):
        self._abilities = abilities

    def convolution(self, x, kernel, window, groups):
        x, padding = _padded(x, padding_of(window), self._abilities.pads_convolutions, 0.0)
        strides = [1] + list(window.strides) + [1]
        if groups == 1 or self._abilities.groups:
            return tf.nn.conv2d(x, kernel, strides, padding)
        if int(kernel.shape[2]) == 1 and window.strides[0] == window.strides[1]:
            outputs = int(kernel.shape[3]) // groups
            by_channel = tf.reshape(kernel, list(window.kernel) + [groups, outputs])
            return tf.nn.depthwise_conv2d(x, by_channel, strides, padding)
        pairs = zip(tf.split(x, groups, 3), tf.split(kernel, groups, 3))
        return tf.concat([tf.nn.conv2d(part, own, strides, padding) for part, own in pairs], 3)

    def max_pool(self, x, window):
        padding = padding_of(window)
        inside = isinstance(padding, str) or all(max(sides) < size for sides, size in zip(padding, window.kernel))
        x, padding = _padded(x, padding, self._abilities.pads_pools and inside, -np.inf)
        return tf.nn.max_pool(x, _spread(window.kernel), _spread(window.strides), padding)

    def mean_pool(self, x, window):
        """TensorFlow leaves padding out of the divisor when it pads by itself; otherwise that is mended here."""
        x, padding = _padded(x, padding_of(window), False, 0.0)
        y = tf.nn.avg_pool(x, _spread(window.kernel), _spread(window.strides), padding)
        share = _share_inside(window)
        if isinstance(padding_of(window), str) or np.all(share == 1):
            return y
        return y * tf.constant(1.0 / share[None, :, :, None], y.dtype)


def padding_of(window):
    """ "VALID", "SAME", or ((top, bottom), (left, right)) where neither gives these windows.

    Only where windows start and how many there are matters, so padding that no window reaches is left away.
    """
    sides, same = [], []
    for axis in (0, 1):
        size, count, stride = window.image[axis], window.count[axis], window.strides[axis]
        missing = max((count - 1) * stride + window.kernel[axis] - size, 0)
        near = window.near[axis]
        sides.append((near, max((count - 1) * stride + window.kernel[axis] - size - near, 0)))
        same.append(count == -(-size // stride) and near == missing // 2)
    if not any(sum(side) for side in sides):
        return "VALID"
    return "SAME" if all(same) else tuple(sides)


def _padded(x, padding, native, fill):
    """(image, padding argument): padded beforehand where TensorFlow does not take four sides."""
    if isinstance(padding, str):
        return x, padding
    whole = [[0, 0], list(padding[0]), list(padding[1]), [0, 0]]
    return (x, whole) if native else (tf.pad(x, whole, constant_values=fill), "VALID")


def _spread(pair):
    return [1] + list(pair) + [1]


def _share_inside(window):
    """The part of each window that lies over the image and not over padding."""
    shares = []
    for axis in (0, 1):
        kernel, size = window.kernel[axis], window.image[axis]
        starts = np.arange(window.count[axis]) * window.strides[axis] - window.near[axis]
        shares.append((np.minimum(starts + kernel, size) - np.maximum(starts, 0)) / float(kernel))
    return np.outer(*shares)
