"""What float64 proofs compute otherwise, because Paddle keeps a number in float32 there.

Such numbers are a momentum, an epsilon, an exponent, in a mean pool's gradient the share of a value in its window,
and in a compiled graph every Python number that a tensor is multiplied by. The kernels that float32 trains with are
covered by float32's own proof.
"""

import numpy as np
import paddle
from paddle.nn import functional


def batch_norm(x, mean, variance, scale, shift, training, kept, epsilon):
    """By the library's, with x scaled such that epsilon is a float32 number; with nothing kept, it leaves the batch's
    own mean and variance, from which the running ones are moved here."""
    rounded = float(np.float32(epsilon))
    factor = (rounded / epsilon) ** 0.5
    batch_mean, batch_variance = paddle.zeros_like(mean), paddle.zeros_like(variance)
    y = functional.batch_norm(x * number(factor), batch_mean, batch_variance, scale, shift, training, 0.0, rounded)
    kept, moved = number(kept), 1.0 - kept
    paddle.assign(mean * kept + batch_mean * number(moved / factor), mean)
    paddle.assign(variance * kept + batch_variance * number(moved / factor**2), variance)
    return y


def local_response_norm(x, size, alpha, beta, k):
    count, channels, height, width = x.shape
    rows = paddle.reshape(x * x, [count, 1, channels, height * width])
    total = _window_sums(rows, [size, 1], [1, 1], [size // 2, 0])
    return x * power(paddle.reshape(total, x.shape) * number(alpha / size) + number(k), -beta)


def mean_pool(x, kernel, strides, padding):
    counts = _window_sums(paddle.ones_like(x), kernel, strides, padding)
    return _window_sums(x, kernel, strides, padding) / counts


def _window_sums(x, kernel, strides, padding):
    """By convolution with ones, each channel alone."""
    channels = x.shape[1]
    ones = paddle.ones([channels, 1] + kernel, x.dtype)
    return functional.conv2d(x, ones, None, strides, padding, 1, channels)


def power(x, exponent):
    return paddle.pow(x, number(exponent))


def number(value):
    return paddle.full([], value, "float64")


class Momentum(object):
    """Paddle's Momentum, as far as a trainer uses it."""

    def __init__(self, rate, momentum, parameters):
        self._rate, self._momentum = rate, momentum
        self._moved = [(parameter, paddle.zeros_like(parameter)) for parameter in parameters]

    @paddle.no_grad()
    def step(self):
        for parameter, velocity in self._moved:
            if parameter.grad is not None:
                paddle.assign(velocity * self._momentum + parameter.grad, velocity)
                paddle.assign(parameter - velocity * self._rate, parameter)

    def clear_grad(self, set_to_zero):
        for parameter, _ in self._moved:
            parameter.clear_gradient(set_to_zero)


FUNCTIONS = {
    "batch_norm": batch_norm,
    "local_response_norm": local_response_norm,
    "mean_pool": mean_pool,
    "number": number,
    "power": power,
}
