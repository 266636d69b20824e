"""How TensorFlow slides windows over NHWC images: which of its paddings is the graph's, and what to do if none is."""

import numpy as np
import tensorflow

from netdyno_worker.adapters.kit.windows import inside_shares, needs_subsampling, same_sides

tf = getattr(tensorflow.compat, "v1", tensorflow)  # the interface that versions 1 and 2 share


class Windows(object):
    """Convolutions and pools; the abilities say what this TensorFlow and device do by themselves."""

    def __init__(self, abilities):
        self._abilities = abilities

    def convolution(self, x, kernel, axes, groups):
        x, padding = _padded(x, padding_of(axes), self._abilities.pads_convolutions, 0.0)
        strides = _spread(axes, "stride")
        if padding == "VALID" and not self._abilities.strides and needs_subsampling(axes, int(kernel.shape[2])):
            x, strides = x[:, :: axes[0].stride, :: axes[1].stride], [1, 1, 1, 1]
        if groups == 1 or self._abilities.groups:
            return tf.nn.conv2d(x, kernel, strides, padding)
        if int(kernel.shape[2]) == 1 and axes[0].stride == axes[1].stride:
            outputs = int(kernel.shape[3]) // groups
            by_channel = tf.reshape(kernel, [axes[0].kernel, axes[1].kernel, groups, outputs])
            return tf.nn.depthwise_conv2d(x, by_channel, strides, padding)
        pairs = zip(tf.split(x, groups, 3), tf.split(kernel, groups, 3))
        return tf.concat([tf.nn.conv2d(part, own, strides, padding) for part, own in pairs], 3)

    def transposed_convolution(self, x, kernel, attributes):
        """As the gradient of a convolution without padding, whose padding is then cut off. The kernel is HWIO of that
        convolution, whose input is this output."""
        groups = attributes["groups"]
        if groups == 1:
            return _without_padding(self._spread_image(x, kernel, attributes["strides"]), attributes["padding"])
        pairs = zip(tf.split(x, groups, 3), tf.split(kernel, groups, 3))
        whole = tf.concat([self._spread_image(part, own, attributes["strides"]) for part, own in pairs], 3)
        return _without_padding(whole, attributes["padding"])

    def _spread_image(self, x, kernel, strides):
        batch, height, width, _ = x.shape.as_list()
        rows, columns, outputs, _ = kernel.shape.as_list()
        shape = [batch, (height - 1) * strides[0] + rows, (width - 1) * strides[1] + columns, outputs]
        return tf.nn.conv2d_transpose(x, kernel, shape, [1] + list(strides) + [1], "VALID")

    def max_pool(self, x, axes):
        padding = padding_of(axes)
        inside = isinstance(padding, str) or all(max(sides) < axis.kernel for sides, axis in zip(padding, axes))
        x, padding = _padded(x, padding, self._abilities.pads_pools and inside, -np.inf)
        return tf.nn.max_pool(x, _spread(axes, "kernel"), _spread(axes, "stride"), padding)

    def mean_pool(self, x, axes):
        """TensorFlow leaves padding out of the divisor when it pads by itself; otherwise a constant corrects it."""
        x, padding = _padded(x, padding_of(axes), False, 0.0)
        y = tf.nn.avg_pool(x, _spread(axes, "kernel"), _spread(axes, "stride"), padding)
        share = inside_shares(axes)
        if isinstance(padding_of(axes), str) or np.all(share == 1):
            return y
        return y * tf.constant(1.0 / share[None, :, :, None], y.dtype)


def _without_padding(y, padding):
    top, bottom, left, right = padding
    return y[:, top : int(y.shape[1]) - bottom, left : int(y.shape[2]) - right]


def padding_of(axes):
    """ "VALID", "SAME", or ((top, bottom), (left, right)) where neither gives these windows.

    Only where windows start and how many there are matters, so padding that no window reaches is left out.
    """
    ends = [(axis.count - 1) * axis.stride + axis.kernel - axis.near for axis in axes]
    sides = [(axis.near, max(end - axis.size, 0)) for axis, end in zip(axes, ends)]
    if not any(sum(side) for side in sides):
        return "VALID"
    same = all(axis.count == -(-axis.size // axis.stride) and axis.near == same_sides(axis)[0] for axis in axes)
    return "SAME" if same else tuple(sides)


def _padded(x, padding, native, fill):
    """(image, padding argument): padded beforehand where TensorFlow does not take four sides."""
    if isinstance(padding, str):
        return x, padding
    whole = [[0, 0], list(padding[0]), list(padding[1]), [0, 0]]
    return (x, whole) if native else (tf.pad(x, whole, constant_values=fill), "VALID")


def _spread(axes, field):
    """Kernel or strides as TensorFlow wants them: for each of the four axes."""
    return [1] + [getattr(axis, field) for axis in axes] + [1]
