"""How far from zero a layer's weights start: uniform within ± a limit that depends on its width."""

from collections.abc import Callable
from math import sqrt

Limit = Callable[[int, int], float]  # (fan in, fan out) -> limit


def he(fan_in: int, fan_out: int) -> float:
    """Keeps the size of values from layer to layer under relu."""
    return sqrt(6 / fan_in)


def glorot(fan_in: int, fan_out: int) -> float:
    """Keeps the size of values and gradients from layer to layer under tanh."""
    return sqrt(6 / (fan_in + fan_out))


def logits(fan_in: int, fan_out: int) -> float:
    """Small outputs, so that the first loss of a classifier is near ln(classes)."""
    return sqrt(1 / fan_in)
