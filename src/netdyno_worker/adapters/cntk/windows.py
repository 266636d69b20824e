"""How CNTK slides a window: convolutions and pools at four-sided padding, natively wherever its windows are ours.

CNTK pads by itself or not at all. By itself it centres the windows, which is often what a graph asks for; where it
is not, the image is padded first, at the price of a copy.
"""

import cntk
import numpy as np

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


def max_pool(x, attributes):
    native = _native_pool(x, cntk.MAX_POOLING, attributes)
    if native is not None:
        return native
    return _pool(padded(x, attributes["padding"], LOWEST), cntk.MAX_POOLING, attributes)


def mean_pool(x, attributes):
    native = _native_pool(x, cntk.AVG_POOLING, attributes)
    if native is not None:
        return native
    whole = _pool(padded(x, attributes["padding"], 0.0), cntk.AVG_POOLING, attributes)
    return cntk.element_times(whole, cntk.constant(_share_inside(x.shape[1:], attributes)))


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
    sides = (attributes["padding"][:2], attributes["padding"][2:])
    flags = []
    for length, size, stride, (before, after) in zip(x.shape[1:], kernel, attributes["strides"], sides):
        if size > length:  # CNTK refuses a window larger than the image, even if the padding makes room
            return None
        wanted = (-before, (length + before + after - size) // stride + 1)
        if wanted == _bare_windows(length, size, stride, ceil):
            flags.append(False)
        elif wanted == _centred_windows(length, size, stride) and not ceil:
            flags.append(True)
        else:
            return None
    return tuple(flags)


def _bare_windows(length, size, stride, ceil):
    """(where the first window starts, how many there are) without padding."""
    over = stride - 1 if ceil else 0
    return 0, (length - size + over) // stride + 1


def _centred_windows(length, size, stride):
    """(where the first window starts, how many there are) if CNTK pads: a window around every stride-th place."""
    count = (length - 1) // stride + 1
    spare = length - 1 - (count - 1) * stride
    return spare // 2 - (size - 1) // 2, count


def _share_inside(image, attributes):
    """For each window its size over how much of it lies inside the image."""
    kernel, strides, padding = attributes["kernel"], attributes["strides"], attributes["padding"]
    along = [
        [min(start + size, length) - max(start, 0) for start in range(-before, length + after - size + 1, stride)]
        for length, size, stride, before, after in zip(image, kernel, strides, padding[::2], padding[1::2])
    ]
    inside = np.outer(*along).astype(np.float32)
    return (kernel[0] * kernel[1] / inside)[None].astype(np.float32)
