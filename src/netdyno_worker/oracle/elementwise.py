"""What each elementwise operation computes in the oracle, forward and backward. Two values broadcast as in numpy."""

import math
from collections import namedtuple

import numpy as np

from netdyno_worker.oracle.rounding import EXACT

# What an operation of two values keeps.
Pair = namedtuple("Pair", "a b rounding")

_ERF = np.vectorize(math.erf, otypes=[np.float64])


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
    value = sigmoid_of(inputs[0])
    return value, value


def sigmoid_backward(gradient, value, needed):
    return [gradient * value * (1 - value)]


def add(inputs, attributes):
    return inputs[0] + inputs[1], _pair(inputs, attributes)


def add_backward(gradient, kept, needed):
    return _summed((gradient, gradient), kept, needed)


def subtract(inputs, attributes):
    return inputs[0] - inputs[1], _pair(inputs, attributes)


def subtract_backward(gradient, kept, needed):
    return _summed((gradient, -gradient if needed[1] else None), kept, needed)


def multiply(inputs, attributes):
    return inputs[0] * inputs[1], _pair(inputs, attributes)


def multiply_backward(gradient, kept, needed):
    to_a = gradient * kept.b if needed[0] else None
    return _summed((to_a, gradient * kept.a if needed[1] else None), kept, needed)


def divide(inputs, attributes):
    return inputs[0] / inputs[1], _pair(inputs, attributes)


def divide_backward(gradient, kept, needed):
    to_a = gradient / kept.b
    return _summed((to_a, -to_a * (kept.a / kept.b) if needed[1] else None), kept, needed)


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


def exp(inputs, attributes):
    value = np.exp(inputs[0])
    return value, value


def exp_backward(gradient, value, needed):
    return [gradient * value]


def log(inputs, attributes):
    """Of numbers over 0."""
    return np.log(inputs[0]), inputs[0]


def log_backward(gradient, x, needed):
    return [gradient / x]


def rsqrt(inputs, attributes):
    """Of numbers over 0."""
    value = 1.0 / np.sqrt(inputs[0])
    return value, (inputs[0], value)


def rsqrt_backward(gradient, kept, needed):
    x, value = kept
    return [gradient * (-0.5 * value / x)]


def erf(inputs, attributes):
    return _ERF(inputs[0]), inputs[0]


def erf_backward(gradient, x, needed):
    return [gradient * (2.0 / math.sqrt(math.pi)) * np.exp(-np.square(x))]


def softplus(inputs, attributes):
    """log(1 + exp x)."""
    return np.logaddexp(0.0, inputs[0]), inputs[0]


def softplus_backward(gradient, x, needed):
    return [gradient * sigmoid_of(x)]


def clamp(inputs, attributes):
    """The gradient passes where low <= x <= high."""
    x, low, high = inputs[0], attributes["low"], attributes["high"]
    inside = (x >= low) & (x <= high)
    if attributes.get("flips"):
        near, chosen = attributes["flips"]
        at_a_kink = np.minimum(np.abs(x - low), np.abs(x - high)) < near
        inside ^= at_a_kink & chosen(x.shape)
    return np.where(inside, x, np.where(x < 0.5 * (low + high), low, high)), inside


def clamp_backward(gradient, inside, needed):
    return [gradient * inside]


def _pair(inputs, attributes):
    return Pair(inputs[0], inputs[1], attributes.get("rounding", EXACT))


def _summed(gradients, kept, needed):
    """Gradients as their inputs are: added up over the axes that were repeated."""
    pairs = zip(gradients, (kept.a, kept.b), needed)
    return [_over_repeated(gradient, np.shape(x), kept.rounding) if wanted else None for gradient, x, wanted in pairs]


def _over_repeated(gradient, shape, rounding):
    missing = np.ndim(gradient) - len(shape)
    aligned = (1,) * missing + tuple(shape)
    axes = tuple(axis for axis, length in enumerate(aligned) if length < gradient.shape[axis])
    return np.reshape(rounding.sum(gradient, axes), shape) if axes else np.reshape(gradient, shape)


def sigmoid_of(x):
    """By tanh, which does not overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))
