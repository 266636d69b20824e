"""How far from zero a layer's weights start: uniform within ± a limit that depends on its width."""

from collections.abc import Callable
from math import sqrt

Limit = Callable[[int, int], float]  # (fan in, fan out) -> limit


def glorot(fan_in: int, fan_out: int) -> float:
    """The default. The early deep networks stay finite with it: VGG16 diverges in five steps with `he`."""
    return sqrt(6 / (fan_in + fan_out))


def he(fan_in: int, fan_out: int) -> float:
    """For convolutions that batch norm follows; max pools make values grow where nothing normalises them."""
    return sqrt(6 / fan_in)


def logits(fan_in: int, fan_out: int) -> float:
    """Small outputs, so that the first loss of a classifier is near ln(classes)."""
    return sqrt(1 / fan_in)
