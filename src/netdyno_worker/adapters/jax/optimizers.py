"""How a gradient moves parameters in JAX: the optimizers' rules, and under float16 the scale of the loss."""

from collections import namedtuple

import jax.numpy as jnp

from netdyno_worker.adapters.kit.loss_scale import FIRST_SCALE, next_scale
from netdyno_worker.adapters.kit.precision import kept_type

# factor: what the loss is multiplied with. good: finite steps since it changed. skipped: number of updates not made.
Scale = namedtuple("Scale", "factor good skipped")


class Optimizer(object):
    """One update's rule. Its state is (moments of each parameter, Scale or None): arrays that each step replaces."""

    def __init__(self, update, job):
        self._names = update.parameters
        self._rule = update.optimizer
        self._type = kept_type(job)
        self._scaled = job.precision == "float16"

    def first_state(self, shapes):
        """The zeros that it starts from."""
        count = MOMENTS[self._rule["kind"]]
        moments = [[jnp.zeros(shapes[name], self._type) for _ in range(count)] for name in self._names]
        return moments, first_scale() if self._scaled else None

    def moved(self, values, gradients, state, count):
        """({parameter: next value}, next state); an update by gradients that are not finite is not made.

        By selecting, not by branching: a branch would make the host wait for the device to say which.
        """
        moments, scale = state
        made = count if scale is None else count - scale.skipped
        changed, following = {}, []
        for name, old in zip(self._names, moments):
            change, new = RULES[self._rule["kind"]](gradients[name], old, made, self._rule)
            changed[name] = values[name] - change
            following.append(new)
        if scale is None:
            return changed, (following, None)
        finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(gradients[name])) for name in self._names]))
        changed = {name: jnp.where(finite, value, values[name]) for name, value in changed.items()}
        following = [[jnp.where(finite, n, o) for n, o in zip(*pair)] for pair in zip(following, moments)]
        return changed, (following, _following(scale, finite))


def first_scale():
    """The scale of the first step."""
    return Scale(jnp.float32(FIRST_SCALE), jnp.int32(0), jnp.int32(0))


def _following(scale, finite):
    factor, good = next_scale(scale.factor, scale.good, finite, jnp.where)
    return Scale(factor, good, scale.skipped + jnp.where(finite, 0, 1))


def _sgd(gradient, moments, count, optimizer):
    return optimizer["learning_rate"] * gradient, moments


def _momentum(gradient, moments, count, optimizer):
    velocity = optimizer["momentum"] * moments[0] + gradient
    return optimizer["learning_rate"] * velocity, [velocity]


def _adam(gradient, moments, count, optimizer):
    beta1, beta2 = optimizer["beta1"], optimizer["beta2"]
    done = (count + 1).astype(gradient.dtype)
    first = beta1 * moments[0] + (1 - beta1) * gradient
    second = beta2 * moments[1] + (1 - beta2) * jnp.square(gradient)
    root = jnp.sqrt(second / (1 - beta2**done))
    change = optimizer["learning_rate"] * (first / (1 - beta1**done)) / (root + optimizer["epsilon"])
    return change, [first, second]


MOMENTS = {"sgd": 0, "momentum": 1, "adam": 2}
# Each gives what is subtracted from a parameter, and the next moments; `count` is the number of updates made before.
RULES = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}
