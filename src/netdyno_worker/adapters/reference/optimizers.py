"""How far each optimizer moves a parameter, in float64, as the graph means it."""

import numpy as np


def _sgd(gradient, moments, optimizer):
    return optimizer["learning_rate"] * gradient


def _momentum(gradient, moments, optimizer):
    moments["velocity"] = optimizer["momentum"] * moments.get("velocity", 0.0) + gradient
    return optimizer["learning_rate"] * moments["velocity"]


def _adam(gradient, moments, optimizer):
    beta1, beta2 = optimizer["beta1"], optimizer["beta2"]
    count = moments["count"] = moments.get("count", 0) + 1
    first = moments["first"] = beta1 * moments.get("first", 0.0) + (1 - beta1) * gradient
    second = moments["second"] = beta2 * moments.get("second", 0.0) + (1 - beta2) * gradient**2
    power1, power2 = optimizer.get("rounded", float)(beta1**count), optimizer.get("rounded", float)(beta2**count)
    root = np.sqrt(second / (1 - power2))
    return optimizer["learning_rate"] * (first / (1 - power1)) / (root + optimizer["epsilon"])


# Each gives what is subtracted from a parameter, and remembers what it needs in `moments`.
OPTIMIZERS = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}
# These move a parameter by its gradient's sign more than by its size: a gradient near zero is a kink for them.
BY_SIGN = {"adam"}
