"""How Theano moves parameters: expressions of their next values, compiled into the step."""

import numpy as np

from netdyno_worker.adapters.kit.adam import adam_epsilon, adam_rate
from netdyno_worker.adapters.theano.start import tensor, theano


def shared_array(array, name=None):
    """A shared variable that uses this array without a copy."""
    return theano.shared(array, name=name, borrow=True)


def _sgd(parameters, gradients, optimizer):
    return [(p, p - optimizer["learning_rate"] * g) for p, g in zip(parameters, gradients)]


def _momentum(parameters, gradients, optimizer):
    changes = []
    for parameter, gradient in zip(parameters, gradients):
        velocity = _zeros_like(parameter)
        moved = optimizer["momentum"] * velocity + gradient
        changes += [(velocity, moved), (parameter, parameter - optimizer["learning_rate"] * moved)]
    return changes


def _adam(parameters, gradients, optimizer):
    """Both corrections as float64 scalars: 1 - 0.999 loses digits in float32."""
    beta1, beta2, dtype = optimizer["beta1"], optimizer["beta2"], theano.config.floatX
    count = shared_array(np.ones((), np.float64))
    powers = [tensor.constant(beta, dtype="float64") ** count for beta in (beta1, beta2)]
    rate = tensor.cast(adam_rate(optimizer["learning_rate"], *powers, sqrt=tensor.sqrt), dtype)
    epsilon = tensor.cast(adam_epsilon(optimizer["epsilon"], powers[1], tensor.sqrt), dtype)
    changes = [(count, count + 1.0)]
    for parameter, gradient in zip(parameters, gradients):
        first, second = _zeros_like(parameter), _zeros_like(parameter)
        mean = beta1 * first + (1.0 - beta1) * gradient
        square = beta2 * second + (1.0 - beta2) * tensor.sqr(gradient)
        change = rate * mean / (tensor.sqrt(square) + epsilon)
        changes += [(first, mean), (second, square), (parameter, parameter - change)]
    return changes


def _zeros_like(parameter):
    return shared_array(np.zeros_like(parameter.get_value(borrow=True)))


# Each gives [(shared variable, its next value)] for all parameters of an update.
RULES = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}
