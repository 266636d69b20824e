"""What the ops that work element by element, along axes or by lookup are in CNTK, of whole values and per sample.

CNTK's axes are those of a sample: one less than the graph's where the first axis is hidden in the batch.
"""

import math

import cntk
import numpy as np

from netdyno_worker.adapters.cntk.batches import element_count, is_whole

# A mean of exp(-x² t²) over these t, with these weights, is erf(x) / x · √π / 2: Gauss and Legendre's, exact to the
# last digit of a double for |x| ≤ ERF_REACH, beyond which erf is 1.
ERF_NODES, ERF_REACH = 40, 6.0


def shape_of(site):
    """Of a node whose input lies as it will."""
    return site.batches.shape_like(site.inputs[0], site.node.shape)


def _unary(function):
    return lambda site: function(site.inputs[0])


def power(x, exponent):
    """By exponential and logarithm, because the gradient of CNTK's pow comes out as not a number."""
    return cntk.exp(cntk.log(x) * exponent)


def _clamp(site):
    x = site.inputs[0]
    low, high = (cntk.constant(site.node.attributes[bound], dtype=x.dtype) for bound in ("low", "high"))
    return cntk.clip(x, low, high)


def _erf(x):
    """CNTK has none: an integral of exponentials, and its derivative, which is one."""
    points, weights = np.polynomial.legendre.leggauss(ERF_NODES)
    half = slice(ERF_NODES // 2, None)  # the other half is the same by symmetry
    squares = cntk.constant((points[half] ** 2).astype(x.dtype))
    weights = cntk.constant((weights[half, None] * 2.0 / math.sqrt(math.pi)).astype(x.dtype))
    reach = cntk.constant(ERF_REACH, dtype=x.dtype)
    near = cntk.clip(x, cntk.constant(-ERF_REACH, dtype=x.dtype), reach)
    terms = cntk.exp(cntk.reshape(near * near, x.shape + (1,)) * squares * -1.0)
    value = near * cntk.reshape(cntk.times(terms, weights), x.shape)
    slope = cntk.exp(x * x * -1.0) * (2.0 / math.sqrt(math.pi))
    return cntk.stop_gradient(value) + (x - cntk.stop_gradient(x)) * cntk.stop_gradient(slope)


def _paired(function):
    """Of two values, of which CNTK repeats what is missing or of length 1 as the graph does."""

    def rule(site):
        shape, shapes = site.node.shape, site.shapes
        fed = [s for x, s in zip(site.inputs, shapes) if not is_whole(x)]
        if not all(len(s) == len(shape) and s[:1] == shape[:1] for s in fed):
            return function(*site.batches.alike(site.inputs, shapes, mixes=True))
        if not fed:
            return function(*site.inputs)
        return function(*[_met(site, *pair) for pair in zip(site.inputs, shapes)])

    return rule


def _sum_of(function):
    """Of what is whole a copy: terms of one shape share a gradient in CNTK, which its learners change in place."""

    def rule(site):
        copies = [x * 1.0 if is_whole(x) else x for x in site.inputs]
        return _paired(function)(site._replace(inputs=copies))

    return rule


def _met(site, x, shape):
    """An operand as it meets one that is kept per sample."""
    batches, result = site.batches, site.node.shape
    if not is_whole(x) or len(shape) < len(result):
        return x
    if shape and shape[0] == 1 and result[0] != 1:
        return cntk.reshape(x, shape[1:]) if batches.hides_first(result) else x
    return batches.dealt(x, shape) if shape else x


def _along(function, mixes):
    """Of values side by side; `mixes(site)` says whether samples meet. `function` is given what CNTK skips."""

    def rule(site):
        values = site.batches.alike(site.inputs, site.shapes, mixes(site))
        hidden = not is_whole(values[0]) and site.batches.hides_first(site.shapes[0])
        return function(site._replace(inputs=values), int(hidden))

    return rule


def _reshape(site, skip):
    return cntk.reshape(site.inputs[0], shape_of(site))


def _transpose(site, skip):
    axes = site.node.attributes["axes"][skip:]
    return cntk.transpose(site.inputs[0], [axis - skip for axis in axes])


def _slice(site, skip):
    axis, start, stop = (site.node.attributes[key] for key in ("axis", "start", "stop"))
    return cntk.slice(site.inputs[0], axis - skip, start, stop)


def _concat(site, skip):
    return cntk.splice(*site.inputs, axis=_axis(site) - skip)


def _axis(site):
    return site.node.attributes.get("axis", 1)


def _softmax(site, skip):
    return cntk.softmax(site.inputs[0], axis=_axis(site) - skip)


def _reduced(function):
    def rule(site, skip):
        axes = [axis - skip for axis in site.node.attributes["axes"]]
        return cntk.reshape(function(site.inputs[0], axes), shape_of(site))

    return rule


def _highest(x, axes):
    """By its place: CNTK gives each of several equal maxima the whole gradient."""
    there = cntk.equal(x, cntk.reduce_max(x, axis=axes))
    share = cntk.stop_gradient(cntk.element_divide(there, cntk.reduce_sum(there, axis=axes)))
    return cntk.reduce_sum(x * share, axis=axes)


def _mean(x, axes):
    count = element_count([x.shape[axis] for axis in axes])
    return cntk.reduce_sum(x, axis=axes) * (1.0 / count)


def _to_scalar(function, share):
    """A loss is kept per sample; of the rest, `function`. `share(site)` is what a sample's sum counts for."""

    def rule(site):
        x = site.inputs[0]
        if site.node.shape or is_whole(x):
            return function(site)
        total = cntk.reduce_sum(x) if x.shape else x
        return total * share(site)

    return rule


def _first_axis(site):
    return _axis(site) == 0


def _first_of_axes(site):
    return 0 in site.node.attributes["axes"]


def _matmul(site):
    a, b = site.inputs
    if len(site.node.shape) > 2:
        return _products(*site.batches.alike([a, b], site.shapes))
    if is_whole(a) or not is_whole(b):
        a, b = site.batches.alike([a, b], site.shapes, mixes=True)
    return cntk.times(a, b)


def _products(a, b):
    """Of the last two axes, one by one: CNTK has no product of many matrices."""
    many = a.shape[:-2]
    if not many:
        return cntk.times(a, b)
    sides = [cntk.reshape(x, (-1,) + x.shape[-2:]) for x in (a, b)]
    found = [cntk.times(*[_matrix(x, place) for x in sides]) for place in range(element_count(many))]
    rows = [cntk.reshape(x, (1,) + x.shape) for x in found]
    return cntk.reshape(cntk.splice(*rows, axis=0) if len(rows) > 1 else rows[0], many + found[0].shape)


def _matrix(x, place):
    return cntk.reshape(cntk.slice(x, 0, place, place + 1), x.shape[1:])


def _gather(site):
    table, indices = site.inputs
    found = cntk.gather(site.batches.whole(table, site.shapes[0]), indices)
    return cntk.reshape(found, site.batches.shape_like(indices, site.node.shape))


def _one_hot(site):
    marks = cntk.one_hot(site.inputs[0], site.node.attributes["classes"])
    return cntk.reshape(marks, shape_of(site))


ARRAYS = {
    "relu": _unary(cntk.relu),
    "tanh": _unary(cntk.tanh),
    "sigmoid": _unary(cntk.sigmoid),
    "exp": _unary(cntk.exp),
    "log": _unary(cntk.log),
    "rsqrt": _unary(lambda x: cntk.reciprocal(cntk.sqrt(x))),
    "erf": _unary(_erf),
    "softplus": _unary(cntk.softplus),
    "clamp": _clamp,
    "scale": lambda site: site.inputs[0] * site.node.attributes["factor"],
    "power": lambda site: power(site.inputs[0], site.node.attributes["exponent"]),
    "stop_gradient": _unary(cntk.stop_gradient),
    "add": _sum_of(cntk.plus),
    "subtract": _sum_of(cntk.minus),
    "multiply": _paired(cntk.element_times),
    "divide": _paired(cntk.element_divide),
    "reshape": _along(_reshape, lambda site: not site.batches.fits(site.node.shape)),
    "flatten": _along(_reshape, lambda site: False),
    "transpose": _along(_transpose, lambda site: site.node.attributes["axes"][0] != 0),
    "slice": _along(_slice, _first_axis),
    "concat": _along(_concat, _first_axis),
    "softmax": _along(_softmax, _first_axis),
    "reduce_sum": _to_scalar(
        _along(_reduced(lambda x, axes: cntk.reduce_sum(x, axis=axes)), _first_of_axes),
        lambda site: float(site.batches.size),
    ),
    "reduce_mean": _to_scalar(
        _along(_reduced(_mean), _first_of_axes), lambda site: 1.0 / element_count(site.inputs[0].shape)
    ),
    "reduce_max": _along(_reduced(_highest), _first_of_axes),
    "matmul": _matmul,
    "gather": _gather,
    "one_hot": _one_hot,
}
