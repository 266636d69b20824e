"""Which MXNet symbol computes each op along axes, on pairs of values and by lookup."""

from math import pi

import mxnet as mx

OLD = "count_include_pad" not in (mx.sym.Pooling.__doc__ or "")  # before 1.3


def in_plain_order(x):
    """MKL-DNN of 1.2 hands on an image in its blocked memory order; a slice of the whole image is in plain order."""
    return mx.sym.slice_axis(x, axis=1, begin=0, end=None) if OLD else x


def _transposed_convolution(site):
    """Where one side has more padding than the other, the rest is cut off afterwards."""
    top, bottom, left, right = site.node.attributes["padding"]
    pad = min(top, bottom), min(left, right)
    whole = mx.sym.Deconvolution(
        *site.inputs,
        kernel=site.shapes[site.node.inputs[1]][2:],
        stride=site.node.attributes["strides"],
        pad=pad,
        num_filter=site.node.shape[1],
        num_group=site.node.attributes["groups"],
        no_bias=len(site.inputs) == 2,
    )
    if (top, left) == (bottom, right):
        return whole
    begin = 0, 0, top - pad[0], left - pad[1]
    return mx.sym.slice(whole, begin=begin, end=[a + b for a, b in zip(begin, site.node.shape)])


def _matmul(site):
    """Of matrices in a batch of its own, which is what MXNet multiplies in every rank."""
    a, b = site.inputs
    if len(site.node.shape) == 2:
        return mx.sym.dot(a, b)
    sides = [mx.sym.reshape(x, shape=(-1,) + site.shapes[name][-2:]) for x, name in zip((a, b), site.node.inputs)]
    return mx.sym.reshape(mx.sym.batch_dot(*sides), shape=site.node.shape)


def _softmax(site):
    """In float64 the kernel of 1.2 is no more exact than in float32, whose own proof covers it."""
    x, axis = site.inputs[0], site.node.attributes["axis"]
    if not (OLD and site.wide):
        return mx.sym.softmax(x, axis=axis)
    powers = mx.sym.exp(mx.sym.broadcast_sub(x, mx.sym.BlockGrad(mx.sym.max(x, axis=axis, keepdims=True))))
    return mx.sym.broadcast_div(powers, mx.sym.sum(powers, axis=axis, keepdims=True))


def _plainly(site):
    """Its only input, in plain order where it may be an image."""
    return in_plain_order(site.inputs[0]) if len(site.shapes[site.node.inputs[0]]) == 4 else site.inputs[0]


def _slice(site):
    axis, start, stop = (site.node.attributes[key] for key in ("axis", "start", "stop"))
    return mx.sym.slice_axis(site.inputs[0], axis=axis, begin=start, end=stop)


def _reduced(function):
    def rule(site):
        return function(site.inputs[0], axis=site.node.attributes["axes"], keepdims=site.node.attributes["keep"])

    return rule


def _reduce_max(site):
    """By its place, and not by MXNet's own: that gives each of several equal maxima the whole gradient."""
    x, axes = site.inputs[0], site.node.attributes["axes"]
    there = mx.sym.broadcast_equal(x, mx.sym.max(x, axis=axes, keepdims=True))
    share = mx.sym.BlockGrad(mx.sym.broadcast_div(there, mx.sym.sum(there, axis=axes, keepdims=True)))
    return mx.sym.sum(x * share, axis=axes, keepdims=site.node.attributes["keep"])


def concat_along(site):
    """Along another axis than that of channels; counted from the end, which keeps it from MKL-DNN."""
    parts = [in_plain_order(x) if len(site.node.shape) == 4 else x for x in site.inputs]
    return mx.sym.Concat(*parts, dim=site.node.attributes["axis"] - len(site.node.shape), name=site.node.name)


def softplus(x):
    """log(1 + exp x). MKL-DNN's of 1.2 is wrong where x is large."""
    if not OLD:
        return mx.sym.Activation(x, act_type="softrelu")
    size = mx.sym.abs(x)
    return (x + size) * 0.5 + mx.sym.log1p(mx.sym.exp(-size))


def _erf(site):
    """The gradient of MXNet's own has a factor of float32, which shows in float64."""
    x = site.inputs[0]
    value = mx.sym.erf(x)
    if not site.wide:
        return value
    slope = mx.sym.BlockGrad(mx.sym.exp(-mx.sym.square(x)) * (2.0 / pi**0.5))
    return mx.sym.BlockGrad(value) + (x * slope - mx.sym.BlockGrad(x * slope))


def _one_hot(site):
    kind = "float64" if site.wide else "float32"
    return mx.sym.one_hot(site.inputs[0], depth=site.node.attributes["classes"], dtype=kind)


def _broadcast(plain, repeating):
    """Of two symbols; without repeating where both have one shape. A scalar is an array of one element."""

    def rule(site):
        a, b = (site.shapes[name] for name in site.node.inputs)
        if a == b:
            return plain(*site.inputs)
        rank = len(site.node.shape)
        aligned = [
            x if len(shape) == rank else mx.sym.reshape(x, shape=(1,) * (rank - len(shape)) + shape)
            for x, shape in zip(site.inputs, (a, b))
        ]
        return repeating(*aligned)

    return rule


def _gather(site):
    rows, width = site.shapes[site.node.inputs[0]]
    return mx.sym.Embedding(site.inputs[1], site.inputs[0], input_dim=rows, output_dim=width)


ARRAYS = {
    "reduce_max": _reduce_max,
    "one_hot": _one_hot,
    "erf": _erf,
    "softplus": lambda site: softplus(site.inputs[0]),
    "clamp": lambda site: mx.sym.clip(site.inputs[0], site.node.attributes["low"], site.node.attributes["high"]),
    "transposed_convolution": _transposed_convolution,
    "matmul": _matmul,
    "reshape": lambda site: mx.sym.reshape(_plainly(site), shape=site.node.shape),
    "transpose": lambda site: mx.sym.transpose(_plainly(site), axes=site.node.attributes["axes"]),
    "slice": _slice,
    "reduce_sum": _reduced(mx.sym.sum),
    "reduce_mean": _reduced(mx.sym.mean),
    "softmax": _softmax,
    "add": _broadcast(lambda a, b: a + b, mx.sym.broadcast_add),
    "subtract": _broadcast(lambda a, b: a - b, mx.sym.broadcast_sub),
    "multiply": _broadcast(lambda a, b: a * b, mx.sym.broadcast_mul),
    "divide": _broadcast(lambda a, b: a / b, mx.sym.broadcast_div),
    "exp": lambda site: mx.sym.exp(site.inputs[0]),
    "log": lambda site: mx.sym.log(site.inputs[0]),
    "rsqrt": lambda site: mx.sym.rsqrt(site.inputs[0]),
    "gather": _gather,
}
