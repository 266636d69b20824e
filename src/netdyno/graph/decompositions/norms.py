"""Composite norms in primitives.

1 / √(v + ε) is written ε^−½ · (1 + v/ε)^−½: a constant that is a small whole number is exact in every precision.
"""

from collections.abc import Mapping

from netdyno.graph.model import Draw, constant
from netdyno.graph.parts import Parts, Rule


def _local_response_norm(parts: Parts, x: str, *, size: int, alpha: float, beta: float, k: float) -> None:
    """x / (k + α/n Σx²)^β as x · k^−β · (1 + α/(nk) Σx²)^−β. The sum over neighbouring channels is a 1×1 convolution
    with a band of ones."""
    channels, half = parts.shape(x)[1], size // 2
    square = parts.add("square", "multiply", x, x)
    share = parts.add("share", "scale", square, factor=alpha / (size * k))
    band = Draw(kind="band", low=float(-half), high=float(half))
    neighbours = parts.constant("neighbours", (channels, channels, 1, 1), band, kind="kernel")
    one = parts.constant("one", (channels,), constant(1.0))
    still = {"strides": (1, 1), "padding": (0, 0, 0, 0), "groups": 1}
    base = parts.add("base", "convolution", share, neighbours, one, **still)
    power = parts.add("power", "power", base, exponent=-beta)
    divisor = parts.add("factor", "scale", power, factor=k**-beta)
    parts.last("multiply", x, divisor)


def _layer_norm(parts: Parts, x: str, scale: str, shift: str, *, epsilon: float) -> None:
    normalised = _normalised(parts, x, epsilon)
    parts.last("add", parts.add("scaled", "multiply", normalised, scale), shift)


def _group_norm(parts: Parts, x: str, scale: str, shift: str, *, groups: int, epsilon: float) -> None:
    """The values of a group in one row; then an image again, whose channels have a scale and a shift each."""
    _, channels, height, width = parts.shape(x)
    rows = parts.add("rows", "reshape", x, shape=(-1, groups, channels // groups * height * width), kind="plain")
    normalised = _normalised(parts, rows, epsilon)
    image = parts.add("image", "reshape", normalised, shape=(-1, channels, height, width), kind="image")
    aligned = [
        parts.add(f"{part}_aligned", "reshape", vector, shape=(1, channels, 1, 1), kind="image")
        for part, vector in (("scale", scale), ("shift", shift))
    ]
    parts.last("add", parts.add("scaled", "multiply", image, aligned[0]), aligned[1])


def _normalised(parts: Parts, x: str, epsilon: float) -> str:
    """`x` with a mean of 0 and a variance of nearly 1 along its last axis."""
    last = {"axes": (len(parts.shape(x)) - 1,), "keep": True}
    centred = parts.add("centred", "subtract", x, parts.add("mean", "reduce_mean", x, **last))
    variance = parts.add("variance", "reduce_mean", parts.add("square", "multiply", centred, centred), **last)
    ratio = parts.add("ratio", "scale", variance, factor=1 / epsilon)
    more = parts.add("more", "add", ratio, parts.one_like(ratio, 1.0))
    inverse = parts.add("inverse", "scale", parts.add("root", "rsqrt", more), factor=epsilon**-0.5)
    return parts.add("normalised", "multiply", centred, inverse)


RULES: Mapping[str, Rule] = {
    "local_response_norm": _local_response_norm,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
}
