"""What slightly wrong optimizers subtract from a parameter: the same arithmetic for arrays of any library.

rule(gradient, parameter, moments, optimizer, library) gives (change, next moments), of which there are two.
`library` has `sqrt`, `count`, the number of this update from 1 on, and `without_first`, which sets a tensor's first
element to zero. The strength of a mistake is where the optimizer's epsilon would be.
"""

from collections import namedtuple

Library = namedtuple("Library", "sqrt count without_first")


def _nesterov(gradient, parameter, moments, optimizer, library):
    velocity = optimizer["momentum"] * moments[0] + gradient
    return optimizer["learning_rate"] * (gradient + optimizer["momentum"] * velocity), [velocity, moments[1]]


def _dampened(gradient, parameter, moments, optimizer, library):
    velocity = optimizer["momentum"] * moments[0] + (1 - optimizer["epsilon"]) * gradient
    return optimizer["learning_rate"] * velocity, [velocity, moments[1]]


def _decayed(gradient, parameter, moments, optimizer, library):
    velocity = optimizer["momentum"] * moments[0] + gradient + optimizer["epsilon"] * parameter
    return optimizer["learning_rate"] * velocity, [velocity, moments[1]]


def _partial(gradient, parameter, moments, optimizer, library):
    velocity = optimizer["momentum"] * moments[0] + library.without_first(gradient)
    return optimizer["learning_rate"] * velocity, [velocity, moments[1]]


def _adam_by(denominator, corrects=True):
    """Adam whose step is first moment / denominator(second moment, its correction, optimizer, library)."""

    def rule(gradient, parameter, moments, optimizer, library):
        beta1, beta2 = optimizer["beta1"], optimizer["beta2"]
        first = beta1 * moments[0] + (1 - beta1) * gradient
        second = beta2 * moments[1] + (1 - beta2) * gradient * gradient
        to_first = 1 - beta1**library.count if corrects else 1
        to_second = 1 - beta2**library.count if corrects else 1
        below = denominator(second, to_second, optimizer["epsilon"], library.sqrt)
        return optimizer["learning_rate"] * (first / to_first) / below, [first, second]

    return rule


def _adamw(gradient, parameter, moments, optimizer, library):
    decay = optimizer["epsilon"]
    right = dict(optimizer, epsilon=1e-8)
    change, moments = _plain_adam(gradient, parameter, moments, right, library)
    return change + optimizer["learning_rate"] * decay * parameter, moments


_plain_adam = _adam_by(lambda second, correction, epsilon, sqrt: sqrt(second / correction) + epsilon)

RULES = {
    "nesterov": _nesterov,
    "dampened": _dampened,
    "decayed": _decayed,
    "partial": _partial,
    "adamw": _adamw,
    "adam-inside": _adam_by(lambda second, correction, epsilon, sqrt: sqrt(second / correction + epsilon)),
    "adam-before": _adam_by(lambda second, correction, epsilon, sqrt: (sqrt(second) + epsilon) / correction**0.5),
    "adam-uncorrected": _adam_by(lambda second, correction, epsilon, sqrt: sqrt(second) + epsilon, corrects=False),
}
