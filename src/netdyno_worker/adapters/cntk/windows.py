"""How CNTK slides a window: convolutions and pools padded on four sides, natively where its windows are the graph's.

CNTK pads by itself or not at all. By itself it centres the windows, which is often what a graph asks for; where it
is not, the image is padded first, at the price of a copy.
"""

import cntk
import numpy as np

from netdyno_worker.adapters.kit.windows import axes_over, inside_shares, window_count

LOWEST = float(np.finfo(np.float32).min)  # pads a maximum; finite, because 0 times infinity would not be 0
UNPADDED = ((False, False), False)  # whether CNTK pads each axis by itself, and whether it rounds up


def convolution(x, kernel, attributes):
    """Of x (channels, height, width) with a kernel (out, in / groups, height, width)."""
    flags = _padding_flags(x, kernel.shape[2:], attributes)
    if flags is None:
        x, flags = padded(x, attributes["padding"], 0.0), (False, False)
    # The first stride is of the channels, over which the one window reaches: as CNTK's own layers set it.
    strides = (kernel.shape[1],) + tuple(attributes["strides"])
    return cntk.convolution(kernel, x, strides, auto_padding=[False] + list(flags), groups=attributes["groups"])


def transposed_convolution(x, kernel, node):
    """Of x (channels, height, width) with a kernel (in, out / groups, height, width); CNTK has no groups of these."""
    groups = node.attributes["groups"]
    inputs, outputs = kernel.shape[0] // groups, kernel.shape[1]
    strides = (outputs,) + tuple(node.attributes["strides"])
    parts = [
        cntk.convolution_transpose(
            _rows(kernel, group, inputs), _rows(x, group, inputs), strides, auto_padding=[False] * 3
        )
        for group in range(groups)
    ]
    return _cut(cntk.splice(*parts, axis=0) if groups > 1 else parts[0], node)


def _rows(x, group, count):
    return x if x.shape[0] == count else cntk.slice(x, 0, group * count, (group + 1) * count)


def _cut(whole, node):
    """Without the padding."""
    top, _, left, _ = node.attributes["padding"]
    for axis, start, size in zip((1, 2), (top, left), node.shape[2:]):
        if size != whole.shape[axis]:
            whole = cntk.slice(whole, axis, start, start + size)
    return whole


def max_pool(x, attributes):
    native = _native_pool(x, cntk.MAX_POOLING, attributes)
    if native is not None:
        return native
    return _pool(padded(x, attributes["padding"], LOWEST), cntk.MAX_POOLING, attributes)


def mean_pool(x, attributes):
    native = _native_pool(x, cntk.AVG_POOLING, attributes)
    if native is not None:
        return native
    axes = axes_over(x.shape[1:], attributes["kernel"], attributes)
    whole = _pool(padded(x, attributes["padding"], 0.0), cntk.AVG_POOLING, attributes)
    return cntk.element_times(whole, cntk.constant((1.0 / inside_shares(axes)).astype(x.dtype)[None]))


def global_mean_pool(x):
    return cntk.reshape(cntk.pooling(x, cntk.AVG_POOLING, x.shape[1:], x.shape[1:]), x.shape[:1])


def padded(x, padding, value):
    top, bottom, left, right = padding
    if not any(padding):
        return x
    return cntk.pad(x, [(0, 0), (top, bottom), (left, right)], cntk.CONSTANT_PAD, value)


def _pool(x, kind, attributes, edges=UNPADDED):
    flags, ceil = edges
    kernel, strides = attributes["kernel"], attributes["strides"]
    return cntk.pooling(x, kind, kernel, strides, auto_padding=list(flags), ceil_out_dim=ceil)


def _native_pool(x, kind, attributes):
    """Padding never counts in a pool, so the far side matters only by the number of windows."""
    for ceil in (False, True):
        flags = _padding_flags(x, attributes["kernel"], attributes, ceil)
        if flags is not None:
            return _pool(x, kind, attributes, (flags, ceil))
    return None


def _padding_flags(x, kernel, attributes, ceil=False):
    """For each axis whether CNTK is to pad by itself, such that its windows are the graph's; None if they are not."""
    flags = []
    for axis in axes_over(x.shape[1:], kernel, attributes):
        if axis.kernel > axis.size:  # CNTK refuses a window larger than the image, even if the padding makes room
            return None
        wanted = (-axis.near, axis.count)
        if wanted == (0, window_count(axis, 0, ceil)):
            flags.append(False)
        elif wanted == _centred_windows(axis) and not ceil:
            flags.append(True)
        else:
            return None
    return tuple(flags)


def _centred_windows(axis):
    """(where the first window starts, how many there are) if CNTK pads: a window around every stride-th place."""
    count = (axis.size - 1) // axis.stride + 1
    spare = axis.size - 1 - (count - 1) * axis.stride
    return spare // 2 - (axis.kernel - 1) // 2, count
