"""What each primitive operation computes in the oracle, forward and backward, in float64.

forward(inputs, attributes) gives (value, kept); a stochastic op finds its generator in attributes["random"], one with
a kink in attributes["flips"] what a replay takes to its other side, one that adds up or shares a value among many in
attributes["rounding"] what a replay makes of that.
backward(gradient, kept, needed) gives one gradient per input, anything where `needed` is False.
"""

from collections import namedtuple

import numpy as np

from netdyno_worker.oracle import convolution as sliding
from netdyno_worker.oracle.rounding import EXACT

Kernel = namedtuple("Kernel", "forward backward")  # backward None: no gradient passes
# What batch_norm keeps; the adapter moves the running statistics from it.
Normalised = namedtuple("Normalised", "x_hat scale deviation mean variance count rounding")


def linear(inputs, attributes):
    x, weight, rounding = inputs[0], inputs[1], attributes.get("rounding", EXACT)
    value = rounding.product(np.dot(x, weight.T), x.shape[1], x, weight)
    return (value + inputs[2] if len(inputs) > 2 else value), (x, weight, rounding)


def linear_backward(gradient, kept, needed):
    x, weight, rounding = kept
    return [
        rounding.product(np.dot(gradient, weight), len(weight), gradient, weight) if needed[0] else None,
        rounding.product(np.dot(gradient.T, x), len(x), gradient, x) if needed[1] else None,
        rounding.sum(gradient, (0,)),
    ][: len(needed)]


def batch_norm(inputs, attributes):
    x, scale, shift = inputs[:3]
    axes, aligned = _all_but_channels(x)
    rounding, count = attributes.get("rounding", EXACT), x.size // x.shape[1]
    mean = rounding.sum(x, axes) / count
    x_hat = x - mean.reshape(aligned)
    variance = rounding.sum(np.square(x_hat), axes) / count
    deviation = np.sqrt(variance + attributes["epsilon"])
    x_hat /= deviation.reshape(aligned)
    value = x_hat * scale.reshape(aligned)
    value += shift.reshape(aligned)
    return value, Normalised(x_hat, scale, deviation, mean, variance, count, rounding)


def batch_norm_backward(gradient, kept, needed):
    axes, aligned = _all_but_channels(gradient)
    to_scale = kept.rounding.sum(gradient * kept.x_hat, axes)
    to_shift = kept.rounding.sum(gradient, axes)
    if not needed[0]:
        return [None, to_scale, to_shift, None, None]
    centred = gradient - (to_shift / kept.count).reshape(aligned)
    centred -= kept.x_hat * (to_scale / kept.count).reshape(aligned)
    return [centred * (kept.scale / kept.deviation).reshape(aligned), to_scale, to_shift, None, None]


def latest_state(kept):
    """What running statistics move towards: the batch's mean and unbiased variance."""
    return kept.mean, kept.variance * kept.count / max(kept.count - 1, 1)


def relu(inputs, attributes):
    x, positive = inputs[0], inputs[0] > 0
    if attributes.get("flips"):
        near, chosen = attributes["flips"]
        positive ^= (np.abs(x) < near) & chosen(x.shape)
    return x * positive, positive


def relu_backward(gradient, positive, needed):
    return [gradient * positive]


def tanh(inputs, attributes):
    value = np.tanh(inputs[0])
    return value, value


def tanh_backward(gradient, value, needed):
    return [gradient * (1 - value * value)]


def sigmoid(inputs, attributes):
    value = _sigmoid(inputs[0])
    return value, value


def sigmoid_backward(gradient, value, needed):
    return [gradient * value * (1 - value)]


def dropout(inputs, attributes):
    rate = attributes["rate"]
    if rate == 0:
        return inputs[0], 1.0
    mask = (attributes["random"].uniform(size=inputs[0].shape) >= rate) / (1.0 - rate)
    return inputs[0] * mask, mask


def dropout_backward(gradient, mask, needed):
    return [gradient * mask]


def flatten(inputs, attributes):
    return inputs[0].reshape(len(inputs[0]), -1), inputs[0].shape


def flatten_backward(gradient, shape, needed):
    return [gradient.reshape(shape)]


def add(inputs, attributes):
    return inputs[0] + inputs[1], None


def add_backward(gradient, kept, needed):
    return [gradient, gradient]


def multiply(inputs, attributes):
    return inputs[0] * inputs[1], inputs


def multiply_backward(gradient, kept, needed):
    return [gradient * kept[1] if needed[0] else None, gradient * kept[0] if needed[1] else None]


def scale(inputs, attributes):
    return inputs[0] * attributes["factor"], attributes["factor"]


def scale_backward(gradient, factor, needed):
    return [gradient * factor]


def power(inputs, attributes):
    """Of numbers over 0."""
    return inputs[0] ** attributes["exponent"], (inputs[0], attributes["exponent"])


def power_backward(gradient, kept, needed):
    x, exponent = kept
    return [gradient * exponent * x ** (exponent - 1.0)]


def concat(inputs, attributes):
    ends = np.cumsum([value.shape[1] for value in inputs])
    return np.concatenate(inputs, axis=1), ends[:-1]


def concat_backward(gradient, boundaries, needed):
    return np.split(gradient, boundaries, axis=1)


def softmax_cross_entropy(inputs, attributes):
    logits, labels = inputs
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_sums = np.log(attributes.get("rounding", EXACT).sum(np.exp(shifted), (1,))).reshape(-1, 1)
    log_probabilities = shifted - log_sums
    return -log_probabilities[np.arange(len(labels)), labels].mean(), (log_probabilities, labels)


def softmax_cross_entropy_backward(gradient, kept, needed):
    log_probabilities, labels = kept
    found = np.exp(log_probabilities)
    found[np.arange(len(labels)), labels] -= 1.0
    return [found * (gradient / len(labels)), None]


def mean_squared_error(inputs, attributes):
    difference = inputs[0] - inputs[1]
    return np.mean(difference * difference), difference


def mean_squared_error_backward(gradient, difference, needed):
    found = difference * (2.0 * gradient / difference.size)
    return [found, -found]


def binary_cross_entropy(inputs, attributes):
    logits, target = inputs
    terms = np.maximum(logits, 0.0) - logits * target + np.log1p(np.exp(-np.abs(logits)))
    return terms.mean(), inputs


def binary_cross_entropy_backward(gradient, kept, needed):
    logits, target = kept
    share = gradient / logits.size
    return [(_sigmoid(logits) - target) * share, -logits * share]


def gaussian_kl(inputs, attributes):
    mean, log_variance = inputs
    total = np.sum(1.0 + log_variance - mean * mean - np.exp(log_variance))
    return -0.5 * total / len(mean), inputs


def gaussian_kl_backward(gradient, kept, needed):
    mean, log_variance = kept
    share = gradient / len(mean)
    return [mean * share, 0.5 * (np.exp(log_variance) - 1.0) * share]


def stop_gradient(inputs, attributes):
    return inputs[0], None


def bernoulli(inputs, attributes):
    drawn = attributes["random"].uniform(size=inputs[0].shape)
    return (drawn < inputs[0]).astype(np.float64), None


def normal(inputs, attributes):
    return attributes["random"].normal(size=attributes["shape"]), None


def _sigmoid(x):
    """By tanh, which does not overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def _all_but_channels(x):
    """The axes of a channel's values, and the shape that aligns a vector of channels with `x`."""
    return (0,) + tuple(range(2, x.ndim)), (1, -1) + (1,) * (x.ndim - 2)


KINKED = {"relu", "max_pool"}
KERNELS = {
    "convolution": Kernel(sliding.convolution, sliding.convolution_backward),
    "linear": Kernel(linear, linear_backward),
    "max_pool": Kernel(sliding.max_pool, sliding.max_pool_backward),
    "mean_pool": Kernel(sliding.mean_pool, sliding.mean_pool_backward),
    "batch_norm": Kernel(batch_norm, batch_norm_backward),
    "relu": Kernel(relu, relu_backward),
    "tanh": Kernel(tanh, tanh_backward),
    "sigmoid": Kernel(sigmoid, sigmoid_backward),
    "dropout": Kernel(dropout, dropout_backward),
    "flatten": Kernel(flatten, flatten_backward),
    "add": Kernel(add, add_backward),
    "multiply": Kernel(multiply, multiply_backward),
    "scale": Kernel(scale, scale_backward),
    "power": Kernel(power, power_backward),
    "concat": Kernel(concat, concat_backward),
    "softmax_cross_entropy": Kernel(softmax_cross_entropy, softmax_cross_entropy_backward),
    "mean_squared_error": Kernel(mean_squared_error, mean_squared_error_backward),
    "binary_cross_entropy": Kernel(binary_cross_entropy, binary_cross_entropy_backward),
    "gaussian_kl": Kernel(gaussian_kl, gaussian_kl_backward),
    "stop_gradient": Kernel(stop_gradient, None),
    "bernoulli": Kernel(bernoulli, None),
    "normal": Kernel(normal, None),
}
