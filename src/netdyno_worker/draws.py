"""Values drawn by name and seed: the same bits under every NumPy, so nothing heavy crosses the boundary."""

import zlib

import numpy as np


def draw(rule, name, shape, seed):
    """An array for `rule` ({"kind", "low", "high"}), float32 or, for integers, int32."""
    state = np.random.RandomState((zlib.crc32(name.encode("utf-8")) + seed) % (2**32))
    kind, low, high = rule["kind"], rule["low"], rule["high"]
    if kind == "uniform":
        if low == high:
            return np.full(shape, low, dtype=np.float32)
        return state.uniform(low, high, size=shape).astype(np.float32)
    if kind == "normal":
        return state.normal(0.0, 1.0, size=shape).astype(np.float32)
    if kind == "integers":
        return state.randint(int(low), int(high), size=shape).astype(np.int32)
    raise ValueError("expected a draw of kind uniform, normal or integers, received %r" % (kind,))
