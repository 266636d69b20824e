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
    root = np.sqrt(second / (1 - beta2**count))
    return optimizer["learning_rate"] * (first / (1 - beta1**count)) / (root + optimizer["epsilon"])


# Each gives what is subtracted from a parameter, and remembers what it needs in `moments`.
OPTIMIZERS = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}
