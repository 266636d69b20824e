"""Composite pools in primitives."""

from collections.abc import Mapping

from netdyno.graph.parts import Parts, Rule


def _global_mean_pool(parts: Parts, x: str) -> None:
    size = parts.shape(x)[2:]
    mean = parts.add("mean", "mean_pool", x, kernel=size, strides=(1, 1), padding=(0, 0, 0, 0))
    parts.last("flatten", mean)


RULES: Mapping[str, Rule] = {"global_mean_pool": _global_mean_pool}
