"""Attention in primitives."""

from collections.abc import Mapping

from netdyno.graph.model import causal_mask
from netdyno.graph.parts import Parts, Rule


def _attention(parts: Parts, query: str, key: str, value: str, *, causal: bool) -> None:
    """softmax(Q Kᵀ / √features) V; causal: no query sees a key after its own place."""
    *_, places, features = parts.shape(query)
    keys = parts.add("keys", "transpose", key, axes=(0, 1, 3, 2), kind="plain")
    scores = parts.add("scaled", "scale", parts.add("scores", "matmul", query, keys), factor=features**-0.5)
    if causal:
        mask = parts.constant("mask", (1, 1, places, parts.shape(key)[2]), causal_mask())
        scores = parts.add("masked", "add", scores, mask)
    parts.last("matmul", parts.add("shares", "softmax", scores, axis=3), value)


RULES: Mapping[str, Rule] = {"attention": _attention}
