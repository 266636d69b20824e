"""Composite activations in primitives."""

from collections.abc import Mapping
from math import pi, sqrt

from netdyno.graph.parts import Parts, Rule


def _silu(parts: Parts, x: str) -> None:
    parts.last("multiply", x, parts.add("gate", "sigmoid", x))


def _relu6(parts: Parts, x: str) -> None:
    """The relu decides the gradient at 0."""
    parts.last("clamp", parts.add("positive", "relu", x), low=0.0, high=6.0)


def _hard_swish(parts: Parts, x: str) -> None:
    """x · min(max(x + 3, 0), 6) / 6."""
    shifted = parts.add("shifted", "add", x, parts.one_like(x, 3.0))
    share = parts.add("share", "scale", parts.add("inside", "clamp", shifted, low=0.0, high=6.0), factor=1 / 6)
    parts.last("multiply", x, share)


def _gelu(parts: Parts, x: str, *, form: str) -> None:
    """x · (1 + erf(x / √2)) / 2; in its other form, x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2."""
    if form == "erf":
        bent = parts.add("erf", "erf", parts.add("narrowed", "scale", x, factor=sqrt(0.5)))
    else:
        bent = parts.add("tanh", "tanh", _cubic(parts, x))
    share = parts.add("share", "add", bent, parts.one_like(x, 1.0))
    parts.last("multiply", x, parts.add("half", "scale", share, factor=0.5))


def _cubic(parts: Parts, x: str) -> str:
    """√(2/π) · x · (1 + 0.044715 x²)."""
    square = parts.add("square", "multiply", x, x)
    scaled = parts.add("scaled", "scale", square, factor=0.044715)
    widened = parts.add("widened", "multiply", x, parts.add("more", "add", scaled, parts.one_like(x, 1.0)))
    return parts.add("inner", "scale", widened, factor=sqrt(2 / pi))


RULES: Mapping[str, Rule] = {"silu": _silu, "relu6": _relu6, "hard_swish": _hard_swish, "gelu": _gelu}
