"""How a window slides over images in Theano: convolution and pooling with four explicit sides."""

from functools import partial

import numpy as np

from netdyno_worker.adapters.kit.windows import (
    axes_of,
    edges,
    find_rounding,
    inside_counts,
    near_padding,
    window_count,
)
from netdyno_worker.adapters.theano.start import pool_2d, tensor, theano
from netdyno_worker.program import shapes


def convolution(site, x, weight, bias=None):
    attributes = site.node.attributes
    top, bottom, left, right = attributes["padding"]
    y = tensor.nnet.conv2d(
        x,
        weight,
        input_shape=site.shapes[0],
        filter_shape=site.shapes[1],
        border_mode=((top, bottom), (left, right)),
        subsample=attributes["strides"],
        filter_flip=False,
        num_groups=attributes["groups"],
    )
    return y if bias is None else y + bias.dimshuffle("x", 0, "x", "x")


def transposed_convolution(site, x, weight, bias=None):
    """As the gradient of a convolution without padding, whose padding is then cut off."""
    attributes, (batch, _, rows, columns) = site.node.attributes, site.shapes[0]
    (down, right), groups = attributes["strides"], attributes["groups"]
    _, outputs, height, width = site.shapes[1]
    whole = tensor.nnet.abstract_conv.conv2d_grad_wrt_inputs(
        x,
        weight,
        (batch, outputs * groups, (rows - 1) * down + height, (columns - 1) * right + width),
        site.shapes[1],
        subsample=(down, right),
        filter_flip=False,
        num_groups=groups,
    )
    top, _, left, _ = attributes["padding"]
    y = whole[:, :, top : top + site.node.shape[2], left : left + site.node.shape[3]]
    return y if bias is None else y + bias.dimshuffle("x", 0, "x", "x")


def max_pool(site, x):
    """Theano gives a window's gradient to every maximum; where values may be tied, only the first may have it."""
    if not site.tied:
        return _native_max_pool(site, x)
    whole = tensor.tensor4()
    pool = theano.OpFromGraph(
        [whole], [_native_max_pool(site, whole)], inline=True, lop_overrides=partial(_to_first, site)
    )
    return pool(x)


def may_tie(pool, program):
    """Whether windows of a max pool may hold equal values, because an earlier one put a value in several places.

    Overlapping windows share some of their maxima. Windows over the very same pixels share all of them, so that even
    a 1x1 convolution, which mixes the channels of a place, makes the same of both places.
    """
    nodes, known = {node.name: node for node in program.nodes}, shapes(program)
    waiting = [(name, False) for name in pool.inputs]
    while waiting:
        name, mixed = waiting.pop()
        source = nodes.get(name)
        if source is None:
            continue
        if source.op == "max_pool" and (_repeats(source, known) or not (mixed or _is_disjoint(source))):
            return True
        mixes = source.op == "local_response_norm" or _is_pointwise(source, known)
        if mixes or _keeps_ties(source, program):
            waiting.extend((name, mixed or mixes) for name in source.inputs)
    return False


def _keeps_ties(node, program):
    """Whether equal values of a channel may stay equal, and a gradient goes back to them."""
    facts = program.facts[node.op]
    passes = facts.elementwise and not facts.blocks_gradient
    return passes or node.op in ("max_pool", "batch_norm", "concat")


def _is_disjoint(pool):
    return all(size <= stride for size, stride in zip(pool.attributes["kernel"], pool.attributes["strides"]))


def _is_pointwise(node, known):
    return node.op == "convolution" and tuple(known[node.inputs[1]][2:]) == (1, 1)


def _repeats(pool, known):
    """Whether two windows in a row, cut off at the edges, cover the same pixels."""
    for axis in axes_of(pool, known):
        windows = list(zip(*edges(axis)))
        if len(set(windows)) < len(windows):
            return True
    return False


def mean_pool(site, x):
    """A sum where there is padding: Theano has no gradient for a mean that leaves it out."""
    if not any(site.node.attributes["padding"]):
        return _pool(site, x, (0, 0), True, "average_exc_pad")
    native = _native_pool(site)
    if native is None:
        total = _pool(site, _padded(site, x, 0.0), (0, 0), True, "sum")
    else:
        total = _pool(site, x, native[0], native[1], "sum")
    return total * tensor.constant(1.0 / inside_counts(site.axes)[None, None], dtype=x.dtype)


def _native_max_pool(site, x):
    native = _native_pool(site)
    if native is None:
        return _pool(site, _padded(site, x, -np.inf), (0, 0), True, "max")
    return _pool(site, x, native[0], native[1], "max")


def _to_first(site, inputs, outputs, gradients):
    """The gradient of a max pool, position by position of its window."""
    (x,), (y,), (gradient,) = inputs, outputs, gradients
    top, _, left, _ = site.node.attributes["padding"]
    padded = _padded(site, x, -np.inf)
    found, open_yet = tensor.zeros_like(padded), tensor.ones_like(y)
    for place in _places(site):
        wins = open_yet * tensor.eq(padded[place], y)
        found = tensor.inc_subtensor(found[place], wins * gradient)
        open_yet = open_yet - wins
    height, width = site.shapes[0][2:]
    return [found[:, :, top : top + height, left : left + width]]


def _places(site):
    """For each position in a window, the slices of the padded images that all windows have there."""
    kernel, strides = site.node.attributes["kernel"], site.node.attributes["strides"]
    reach = [stride * (count - 1) + 1 for stride, count in zip(strides, site.node.shape[2:])]
    return [
        (slice(None), slice(None), slice(i, i + reach[0], strides[0]), slice(j, j + reach[1], strides[1]))
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]


def _pool(site, x, pad, ignore_border, mode):
    kernel, strides = site.node.attributes["kernel"], site.node.attributes["strides"]
    return pool_2d(x, kernel, ignore_border=ignore_border, stride=strides, pad=pad, mode=mode)


def _native_pool(site):
    """(padding, ignore_border) that give the same windows without a copy of x, or None."""
    near = near_padding(site.axes)
    if any(axis.near >= axis.kernel for axis in site.axes):
        return None
    over = find_rounding(site.axes, (False, True) if near == (0, 0) else (False,), _native_count)
    return None if over is None else (near, not over)


def _native_count(axis, padding, over):
    """How many windows pool_2d takes; those that reach over the border only if it is not ignored."""
    if not over:
        return window_count(axis, padding)
    size, kernel, stride = axis.size + 2 * padding, axis.kernel, axis.stride
    return (size - 1) // stride + 1 if stride >= kernel else max(0, (size - 1 - kernel + stride) // stride) + 1


def _padded(site, x, value):
    batch, channels, height, width = site.shapes[0]
    top, bottom, left, right = site.node.attributes["padding"]
    canvas = tensor.alloc(np.array(value, x.dtype), batch, channels, height + top + bottom, width + left + right)
    return tensor.set_subtensor(canvas[:, :, top : top + height, left : left + width], x)
