"""Values drawn by name and seed: the same bits under every NumPy, so nothing heavy crosses the boundary."""

import zlib

import numpy as np

CHUNK = 65536  # values drawn at a time: what stays in a processor's cache is drawn and narrowed five times as fast


def draw(rule, name, shape, seed):
    """An array for `rule` ({"kind", "low", "high"}), float32 or, for integers, int32."""
    state = np.random.RandomState((zlib.crc32(name.encode("utf-8")) + seed) % (2**32))
    kind, low, high = rule["kind"], rule["low"], rule["high"]
    if kind == "uniform":
        if low == high:
            return np.full(shape, low, dtype=np.float32)
        return _filled(shape, lambda count: state.uniform(low, high, size=count))
    if kind == "normal":
        return _filled(shape, lambda count: state.normal(0.0, 1.0, size=count))
    if kind == "integers":
        return state.randint(int(low), int(high), size=shape).astype(np.int32)
    if kind == "band":
        return _band(shape, low, high)
    if kind == "causal":
        return _causal(shape, low, high)
    raise ValueError("expected a draw of kind uniform, normal, integers, band or causal, received %r" % (kind,))


def _band(shape, low, high):
    """Ones where column - row lies in [low, high], over the first two axes; the others are alike."""
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    inside = (columns - rows >= low) & (columns - rows <= high)
    array = np.zeros(shape, dtype=np.float32)
    array[inside] = 1.0
    return array


def _causal(shape, low, high):
    """`high` where column <= row, over the last two axes, and `low` elsewhere."""
    rows, columns = np.ogrid[: shape[-2], : shape[-1]]
    array = np.empty(shape, dtype=np.float32)
    array[...] = np.where(columns <= rows, high, low)
    return array


def _filled(shape, draw_some):
    """A float32 array of what is drawn piece by piece: the same stream of values as all at once."""
    array = np.empty(shape, dtype=np.float32)
    flat = array.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        piece = flat[start : start + CHUNK]
        piece[:] = draw_some(piece.size)
    return array
