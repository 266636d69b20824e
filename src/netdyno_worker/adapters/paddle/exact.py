"""What float64 proofs compute otherwise: Paddle's kernels take momenta and exponents as float32 numbers."""

import paddle
from paddle.nn import functional


def batch_norm(x, mean, variance, scale, shift, training, kept, epsilon):
    """Running statistics are moved here; with nothing kept, the library's are the batch's own."""
    batch_mean, batch_variance = paddle.zeros_like(mean), paddle.zeros_like(variance)
    y = functional.batch_norm(x, batch_mean, batch_variance, scale, shift, training, 0.0, epsilon)
    paddle.assign(mean * kept + batch_mean * (1.0 - kept), mean)
    paddle.assign(variance * kept + batch_variance * (1.0 - kept), variance)
    return y


def power(x, exponent):
    return paddle.pow(x, paddle.full([], exponent, x.dtype))


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
