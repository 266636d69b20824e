"""What the ops that work along axes or by lookup mean in Theano, and those that meet values of other shapes."""

import numpy as np

from netdyno_worker.adapters.theano.start import tensor, theano


def _matmul(site, a, b):
    """Of matrices in a batch of its own, which is what Theano multiplies in every rank over two."""
    if a.ndim == 2:
        return tensor.dot(a, b)
    sides = [x.reshape((-1,) + shape[-2:], 3) for x, shape in zip((a, b), site.shapes)]
    return tensor.batched_dot(*sides).reshape(site.node.shape)


def _slice(site, x):
    axis, start, stop = (site.node.attributes[key] for key in ("axis", "start", "stop"))
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _reduced(name):
    return lambda site, x: getattr(x, name)(axis=list(site.node.attributes["axes"]), keepdims=_keeps(site))


def _reduce_max(site, x):
    """By its place: Theano gives each of several equal maxima the whole gradient."""
    axes = list(site.node.attributes["axes"])
    there = tensor.cast(tensor.eq(x, x.max(axis=axes, keepdims=True)), x.dtype)
    share = theano.gradient.disconnected_grad(there / there.sum(axis=axes, keepdims=True))
    return (x * share).sum(axis=axes, keepdims=_keeps(site))


def _keeps(site):
    return site.node.attributes["keep"]


def _softmax(site, x):
    axis = site.node.attributes["axis"]
    powers = tensor.exp(x - theano.gradient.disconnected_grad(x.max(axis=axis, keepdims=True)))
    return powers / powers.sum(axis=axis, keepdims=True)


def softplus(x):
    """Not Theano's own, which leaves out what is small beside a large x."""
    size = abs(x)
    return (x + size) * 0.5 + tensor.log1p(tensor.exp(-size))


def _clamp(site, x):
    """Its gradient passes at the bounds too."""
    low, high = (np.array(site.node.attributes[bound], x.dtype) for bound in ("low", "high"))
    return tensor.switch(x < low, low, tensor.switch(x > high, high, x))


def _gather(site, table, indices):
    return table[indices.flatten()].reshape(site.node.shape)


def _one_hot(site, indices):
    marks = tensor.eq(tensor.shape_padright(indices), np.arange(site.node.attributes["classes"], dtype=np.int32))
    return tensor.cast(marks, theano.config.floatX)


def _repeated(function):
    """Theano repeats an axis of length 1 only where it knows of it."""

    def rule(site, a, b):
        if site.shapes[0] == site.shapes[1]:
            return function(a, b)
        sides = [tensor.patternbroadcast(x, [side == 1 for side in s]) for x, s in zip((a, b), site.shapes)]
        return function(*sides)

    return rule


ARRAYS = {
    "matmul": _matmul,
    "reshape": lambda site, x: x.reshape(site.node.shape, len(site.node.shape)),
    "transpose": lambda site, x: x.dimshuffle(*site.node.attributes["axes"]),
    "slice": _slice,
    "concat": lambda site, *x: tensor.concatenate(x, axis=site.node.attributes.get("axis", 1)),
    "reduce_sum": _reduced("sum"),
    "reduce_mean": _reduced("mean"),
    "reduce_max": _reduce_max,
    "softmax": _softmax,
    "add": _repeated(lambda a, b: a + b),
    "subtract": _repeated(lambda a, b: a - b),
    "multiply": _repeated(lambda a, b: a * b),
    "divide": _repeated(lambda a, b: a / b),
    "exp": lambda site, x: tensor.exp(x),
    "log": lambda site, x: tensor.log(x),
    "rsqrt": lambda site, x: 1.0 / tensor.sqrt(x),
    "erf": lambda site, x: tensor.erf(x),
    "softplus": lambda site, x: softplus(x),
    "clamp": _clamp,
    "gather": _gather,
    "one_hot": _one_hot,
}
