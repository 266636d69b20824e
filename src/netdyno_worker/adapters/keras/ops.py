"""What each op without weights is in Keras: its own layers, keras.ops where it has none."""

import keras
import numpy as np
from keras import ops

from netdyno_worker.adapters.keras.arrays import ARRAYS
from netdyno_worker.adapters.keras.site import wide
from netdyno_worker.adapters.kit.powers import negative_power
from netdyno_worker.adapters.kit.windows import inside_shares, same_sides


def same_padding(axes):
    """(top, bottom, left, right) that Keras's padding "same" means."""
    return same_sides(axes[0]) + same_sides(axes[1])


def subsampled(site):
    """The same convolution, of stride 1, over every stride-th pixel."""
    attributes = site.node.attributes
    (down, right), padding = attributes["strides"], attributes["padding"]
    x = site.layout.padded(site.inputs[0], padding) if any(padding) else site.inputs[0]
    x = x[:, ::down, ::right] if site.layout.channels_last else x[:, :, ::down, ::right]
    whole = dict(attributes, strides=(1, 1), padding=(0, 0, 0, 0))
    return site._replace(node=site.node._replace(attributes=whole), inputs=[x] + site.inputs[1:])


class LocalResponseNorm(keras.layers.Layer):
    """Keras has no such layer."""

    def __init__(self, attributes, axis, **options):
        super(LocalResponseNorm, self).__init__(**options)
        self.size = attributes["size"]
        self.share = attributes["alpha"] / attributes["size"]
        self.beta, self.offset = attributes["beta"], attributes["k"]
        self.axis = axis

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, x):
        return x * negative_power(
            self.offset + self.share * self._sums(ops.square(x)), self.beta, ops.rsqrt, ops.sqrt
        )

    def _sums(self, squares):
        """Over the channels near each; those outside count as 0."""
        axis, half = self.axis % len(squares.shape), self.size // 2
        widths = [(0, 0)] * len(squares.shape)
        widths[axis] = (half, half)
        padded = ops.pad(squares, widths)
        first = [slice(None)] * axis
        channels = squares.shape[axis]
        total = padded[tuple(first + [slice(0, channels)])]
        for offset in range(1, self.size):
            total = total + padded[tuple(first + [slice(offset, offset + channels)])]
        return total


class Bernoulli(keras.layers.Layer):
    """0 or 1, drawn again in every call."""

    def __init__(self, seed, **options):
        super(Bernoulli, self).__init__(**options)
        self.generator = keras.random.SeedGenerator(seed)

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, probability):
        drawn = keras.random.uniform(ops.shape(probability), seed=self.generator)
        return ops.cast(drawn < ops.stop_gradient(ops.cast(probability, drawn.dtype)), self.compute_dtype)


class Normal(keras.layers.Layer):
    """Standard normal values of one shape; its call argument is ignored."""

    def __init__(self, shape, seed, **options):
        super(Normal, self).__init__(**options)
        self.drawn_shape = shape
        self.generator = keras.random.SeedGenerator(seed)

    def compute_output_shape(self, input_shape):
        return tuple(self.drawn_shape)

    def call(self, anchor):
        return keras.random.normal(self.drawn_shape, dtype=self.compute_dtype, seed=self.generator)


def _max_pool(site):
    """Uneven "same" only with channels last: under PyTorch it repeats the edge, whose gradient cannot be compiled."""
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    x, mode, even = site.inputs[0], "valid", padding[0::2] == padding[1::2]
    known = any(padding) and padding == same_padding(site.axes)
    if known and (even or site.layout.channels_last):
        mode = "same"
    elif any(padding):
        x = site.layout.padded(x, padding, -np.inf)
    return keras.layers.MaxPooling2D(kernel, strides, mode, data_format=site.layout.data_format)(x)


def _mean_pool(site):
    """Keras's "same" does not count padding where that is the same on both sides; under PyTorch it does elsewhere."""
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    x, mode, even = site.inputs[0], "valid", padding[0::2] == padding[1::2]
    if even and any(padding) and padding == same_padding(site.axes):
        mode = "same"
    elif any(padding):
        x = site.layout.padded(x, padding)
    pooled = keras.layers.AveragePooling2D(kernel, strides, mode, data_format=site.layout.data_format)(x)
    if mode == "same" or not any(padding):
        return pooled
    return ops.multiply(pooled, _whole_over_inside(site))


def _whole_over_inside(site):
    """A window's size over how many image elements it holds."""
    ratio = 1.0 / inside_shares(site.axes)
    return ratio.astype(keras.config.floatx()).reshape(site.layout.shape((1, 1) + ratio.shape, "image"))


def _flatten(site):
    """In the graph's order: channels, rows, columns."""
    return flatten_as_it_lies(site.layout.alike(site.inputs[0], site.kind, "plain"))


def flatten_as_it_lies(x):
    return keras.layers.Flatten(data_format="channels_last")(x)


def _local_response_norm(site):
    return LocalResponseNorm(site.node.attributes, site.layout.channel_axis, dtype=keras.config.floatx())(
        site.inputs[0]
    )


def _dropout(site):
    """Without a seed of its own: Keras draws faster from its global generator, which set_random_seed has seeded."""
    rate = site.node.attributes["rate"]
    return keras.layers.Dropout(rate)(site.inputs[0]) if rate else site.inputs[0]


def _merged(layer, function):
    """By a layer, which takes no scalars and no shapes that differ."""

    def rule(site):
        a, b = site.inputs
        return layer()(site.inputs) if site.shape and tuple(a.shape) == tuple(b.shape) else function(a, b)

    return rule


def _cross_entropy(site):
    logits, labels = site.inputs
    return ops.mean(ops.sparse_categorical_crossentropy(labels, wide(logits), from_logits=True))


def _squared_error(site):
    x, target = site.inputs
    return ops.mean(ops.square(wide(x) - wide(target)))


def _binary_cross_entropy(site):
    logits, target = (wide(value) for value in site.inputs)
    return ops.mean(ops.softplus(logits) - logits * target)


def _gaussian_kl(site):
    mean, log_variance = (wide(value) for value in site.inputs)
    terms = 1.0 + log_variance - ops.square(mean) - ops.exp(log_variance)
    return ops.sum(terms) * (-0.5 / site.shape[0])


def _linear(site):
    """Of weights that no layer owns."""
    product = ops.matmul(site.inputs[0], ops.transpose(site.inputs[1]))
    return ops.add(product, site.inputs[2]) if len(site.inputs) > 2 else product


def _convolution(site):
    """Of weights that no layer owns: their axes are ordered as in the graph."""
    layout, attributes = site.layout, site.node.attributes
    x = layout.padded(site.inputs[0], attributes["padding"])
    weight = ops.transpose(site.inputs[1], (2, 3, 1, 0))
    y = ops.conv(x, weight, attributes["strides"], "valid", layout.data_format)
    return _biased(site, y)


def transposed_padding(node, weight_shape):
    """What Keras calls the padding of a transposed convolution: "same", or "valid" where the rest is cut off."""
    kernel, strides = weight_shape[2:], node.attributes["strides"]
    wanted = [side for size, stride in zip(kernel, strides) for side in [(size - stride) / 2.0] * 2]
    return "same" if list(node.attributes["padding"]) == wanted else "valid"


def without_padding(site, whole):
    """The part of a transposed convolution without padding that the graph's padding leaves."""
    (top, _, left, _), (height, width) = site.node.attributes["padding"], site.node.shape[2:]
    rows, columns = slice(top, top + height), slice(left, left + width)
    return whole[:, rows, columns] if site.layout.channels_last else whole[:, :, rows, columns]


class TransposedConvolution(keras.layers.Layer):
    """Of weights that no layer owns, or in groups, which Keras has not. A layer, because ops.conv_transpose takes its
    arguments in the wrong order where values are symbolic."""

    def __init__(self, node, padding, layout, **options):
        super(TransposedConvolution, self).__init__(**options)
        self.strides, self.groups = node.attributes["strides"], node.attributes["groups"]
        self.padding, self.layout = padding, layout

    def call(self, x, weight):
        axis = self.layout.axis(1, "image")
        kernel = ops.transpose(weight, (2, 3, 1, 0))
        if self.groups == 1:
            return self._spread(x, kernel)
        pairs = zip(ops.split(x, self.groups, axis), ops.split(kernel, self.groups, 3))
        return ops.concatenate([self._spread(part, own) for part, own in pairs], axis)

    def _spread(self, x, kernel):
        data_format = self.layout.data_format
        return ops.conv_transpose(x, kernel, self.strides, self.padding, data_format=data_format)


def _transposed_convolution(site):
    x, weight = site.inputs[:2]
    padding = transposed_padding(site.node, weight.shape)
    y = TransposedConvolution(site.node, padding, site.layout, dtype=keras.config.floatx())(x, weight)
    return _biased(site, y if padding == "same" else without_padding(site, y))


def _biased(site, y):
    if len(site.inputs) < 3:
        return y
    return ops.add(y, ops.reshape(site.inputs[2], site.layout.shape((1, -1, 1, 1), "image")))


RULES = {
    **ARRAYS,
    "convolution": _convolution,
    "transposed_convolution": _transposed_convolution,
    "linear": _linear,
    "max_pool": _max_pool,
    "mean_pool": _mean_pool,
    "global_mean_pool": lambda site: keras.layers.GlobalAveragePooling2D(site.layout.data_format)(site.inputs[0]),
    "local_response_norm": _local_response_norm,
    "relu": lambda site: keras.layers.Activation("relu")(site.inputs[0]),
    "tanh": lambda site: keras.layers.Activation("tanh")(site.inputs[0]),
    "sigmoid": lambda site: keras.layers.Activation("sigmoid")(site.inputs[0]),
    "dropout": _dropout,
    "flatten": _flatten,
    "add": _merged(keras.layers.Add, ops.add),
    "multiply": _merged(keras.layers.Multiply, ops.multiply),
    "scale": lambda site: ops.multiply(site.inputs[0], site.node.attributes["factor"]),
    "power": lambda site: ops.power(site.inputs[0], site.node.attributes["exponent"]),
    "softmax_cross_entropy": _cross_entropy,
    "mean_squared_error": _squared_error,
    "binary_cross_entropy": _binary_cross_entropy,
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": lambda site: ops.stop_gradient(site.inputs[0]),
    "bernoulli": lambda site: Bernoulli(site.seed)(site.inputs[0]),
    "normal": lambda site: Normal(site.layout.shape(site.node.shape, site.node.kind), site.seed)(site.inputs[0]),
}

FUSED = {"local_response_norm", "global_mean_pool"}
