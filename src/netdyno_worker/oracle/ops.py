"""What each primitive operation computes in the oracle, forward and backward, in float64.

forward(inputs, attributes) gives (value, kept); a stochastic op finds its generator in attributes["random"], one with
a kink in attributes["flips"] what a replay takes to its other side, one that adds up or shares a value among many in
attributes["rounding"] what a replay makes of that.
backward(gradient, kept, needed) gives one gradient per input, anything where `needed` is False.
"""

from collections import namedtuple

import numpy as np

from netdyno_worker.oracle import arrays, elementwise, losses
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


def dropout(inputs, attributes):
    rate = attributes["rate"]
    if rate == 0:
        return inputs[0], 1.0
    mask = (attributes["random"].uniform(size=inputs[0].shape) >= rate) / (1.0 - rate)
    return inputs[0] * mask, mask


def dropout_backward(gradient, mask, needed):
    return [gradient * mask]


def stop_gradient(inputs, attributes):
    return inputs[0], None


def bernoulli(inputs, attributes):
    drawn = attributes["random"].uniform(size=inputs[0].shape)
    return (drawn < inputs[0]).astype(np.float64), None


def normal(inputs, attributes):
    return attributes["random"].normal(size=attributes["shape"]), None


def _all_but_channels(x):
    """The axes of a channel's values, and the shape that aligns a vector of channels with `x`."""
    return (0,) + tuple(range(2, x.ndim)), (1, -1) + (1,) * (x.ndim - 2)


KINKED = {"relu", "max_pool", "reduce_max", "clamp"}
KERNELS = {
    "convolution": Kernel(sliding.convolution, sliding.convolution_backward),
    "linear": Kernel(linear, linear_backward),
    "max_pool": Kernel(sliding.max_pool, sliding.max_pool_backward),
    "mean_pool": Kernel(sliding.mean_pool, sliding.mean_pool_backward),
    "batch_norm": Kernel(batch_norm, batch_norm_backward),
    "relu": Kernel(elementwise.relu, elementwise.relu_backward),
    "tanh": Kernel(elementwise.tanh, elementwise.tanh_backward),
    "sigmoid": Kernel(elementwise.sigmoid, elementwise.sigmoid_backward),
    "dropout": Kernel(dropout, dropout_backward),
    "flatten": Kernel(arrays.flatten, arrays.flatten_backward),
    "add": Kernel(elementwise.add, elementwise.add_backward),
    "multiply": Kernel(elementwise.multiply, elementwise.multiply_backward),
    "scale": Kernel(elementwise.scale, elementwise.scale_backward),
    "power": Kernel(elementwise.power, elementwise.power_backward),
    "concat": Kernel(arrays.concat, arrays.concat_backward),
    "transposed_convolution": Kernel(sliding.transposed_convolution, sliding.transposed_convolution_backward),
    "subtract": Kernel(elementwise.subtract, elementwise.subtract_backward),
    "divide": Kernel(elementwise.divide, elementwise.divide_backward),
    "exp": Kernel(elementwise.exp, elementwise.exp_backward),
    "log": Kernel(elementwise.log, elementwise.log_backward),
    "rsqrt": Kernel(elementwise.rsqrt, elementwise.rsqrt_backward),
    "erf": Kernel(elementwise.erf, elementwise.erf_backward),
    "softplus": Kernel(elementwise.softplus, elementwise.softplus_backward),
    "clamp": Kernel(elementwise.clamp, elementwise.clamp_backward),
    "matmul": Kernel(arrays.matmul, arrays.matmul_backward),
    "reshape": Kernel(arrays.reshape, arrays.reshape_backward),
    "transpose": Kernel(arrays.transpose, arrays.transpose_backward),
    "slice": Kernel(arrays.slice_, arrays.slice_backward),
    "reduce_sum": Kernel(arrays.reduce_sum, arrays.reduce_backward),
    "reduce_mean": Kernel(arrays.reduce_mean, arrays.reduce_backward),
    "reduce_max": Kernel(arrays.reduce_max, arrays.reduce_max_backward),
    "softmax": Kernel(arrays.softmax, arrays.softmax_backward),
    "gather": Kernel(arrays.gather, arrays.gather_backward),
    "one_hot": Kernel(arrays.one_hot, None),
    "softmax_cross_entropy": Kernel(losses.softmax_cross_entropy, losses.softmax_cross_entropy_backward),
    "mean_squared_error": Kernel(losses.mean_squared_error, losses.mean_squared_error_backward),
    "binary_cross_entropy": Kernel(losses.binary_cross_entropy, losses.binary_cross_entropy_backward),
    "gaussian_kl": Kernel(losses.gaussian_kl, losses.gaussian_kl_backward),
    "stop_gradient": Kernel(stop_gradient, None),
    "bernoulli": Kernel(bernoulli, None),
    "normal": Kernel(normal, None),
}
