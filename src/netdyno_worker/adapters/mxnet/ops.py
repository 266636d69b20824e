"""Which MXNet symbol computes each value of a program."""

from collections import Counter, namedtuple

import mxnet as mx
import numpy as np

from netdyno_worker.adapters.kit.windows import axes_of, find_rounding, inside_shares, near_padding
from netdyno_worker.adapters.mxnet.arrays import ARRAYS, OLD, concat_along, in_plain_order, softplus
from netdyno_worker.program import inputs_by_role, shapes

# values: {name of an input, parameter or node: Symbol}; constants: {variable's name: array} that they use besides.
Symbols = namedtuple("Symbols", "values constants")

# What an op's rule may ask: its node, the symbols of its inputs, the shape of every value, the axes of its windows if
# it has any, where constants go, whether the inputs are in bfloat16 or in float64, and the values with several uses.
_Site = namedtuple("_Site", "node inputs shapes axes constants narrow wide shared")

# Padding of a max pool that its op cannot do itself; an op's attributes are texts, and not all versions read "-inf".
_LOWEST = float(np.finfo(np.float32).min)
# Before 1.3 a mean pool always counts the padding, and these have wrong gradients:
# - a max pool with the `full` convention is not MKL-DNN's but MXNet's own, which looks up the maxima in an input that
#   may be overwritten by then;
# - MKL-DNN's batch norm, in some channels, with more than one thread;
# - MKL-DNN's response normalisation of most layouts;
# - MKL-DNN's concat, if a part has other uses: adding up gradients in different layouts fails
#   (`outputs[i].IsDefaultData()`).
# An axis that is counted from the end keeps an op from MKL-DNN.
# In every version MKL-DNN's concat needs parts that fill blocks of so many channels: else its gradient cannot be cut
# where a part ends ("could not construct a sub-memory", in 1.2 a wrong gradient), or it divides by zero.
_BLOCK = 16

_BFLOAT16 = np.dtype([("bfloat16", np.uint16)])  # as MXNet names a type that numpy does not have
_PRODUCTS = ("convolution", "linear")
_PASSING = ("relu", "flatten")  # MKL-DNN computes these in bfloat16 as well


def translate(program, precision):
    """A symbol for every value; losses have one element, because a symbol of no dimension does not exist.

    In bfloat16 are only convolutions and products, and what comes from them until an op needs more.
    """
    known, constants = shapes(program), {}
    narrow, wide = precision == "bfloat16", precision == "float64"
    values = {value.name: mx.sym.Variable(value.name) for value in program.inputs + program.parameters}
    narrowed = set()
    uses = Counter(name for node in program.nodes for name in node.inputs)
    shared = {name for name, count in uses.items() if count > 1}
    for node in program.nodes:
        if narrow and (node.op in _PRODUCTS or (node.op in _PASSING and node.inputs[0] in narrowed)):
            narrowed.add(node.name)
        inputs = [_as_type(values[name], name in narrowed, node.name in narrowed) for name in node.inputs]
        axes = axes_of(node, known) if "strides" in node.attributes else ()
        site = _Site(node, inputs, known, axes, constants, node.name in narrowed, wide, shared)
        values[node.name] = _RULES[node.op](site)
    for name in narrowed.intersection(program.outputs):
        values[name] = _as_type(values[name], True, False)
    return Symbols(values, constants)


def latest_shares(program):
    """{running statistic: how much that of a new batch counts}."""
    return {
        name: node.attributes["momentum"]
        for node in program.nodes
        for role, name in inputs_by_role(program, node)
        if role in (program.facts[node.op].state or ())
    }


def _as_type(value, is_narrow, wanted_narrow):
    if is_narrow == wanted_narrow:
        return value
    return mx.sym.amp_cast(value, dtype=_BFLOAT16 if wanted_narrow else "float32")


def _convolution(site):
    kernel = site.shapes[site.node.inputs[1]][2:]
    x, pad = site.inputs[0], near_padding(site.axes)
    if find_rounding(site.axes, (False,)) is None:
        x, pad = _padded(site, 0.0), (0, 0)
    return mx.sym.Convolution(
        x,
        *site.inputs[1:],
        kernel=kernel,
        stride=site.node.attributes["strides"],
        pad=pad,
        num_filter=site.node.shape[1],
        num_group=site.node.attributes["groups"],
        no_bias=len(site.inputs) == 2,
        name=site.node.name,
    )


def _linear(site):
    return mx.sym.FullyConnected(
        *site.inputs, num_hidden=site.node.shape[1], no_bias=len(site.inputs) == 2, name=site.node.name
    )


def _flatten(site):
    return mx.sym.Flatten(in_plain_order(site.inputs[0]), name=site.node.name)


def _max_pool(site):
    form = _native_pool(site)
    if form is not None:
        return _pool(site, site.inputs[0], pool_type="max", **form)
    return _pool(site, _padded(site, _LOWEST), pool_type="max")


def _mean_pool(site):
    form = _native_pool(site)
    if form is not None and not OLD:
        return _pool(site, site.inputs[0], pool_type="avg", count_include_pad=False, **form)
    x, form = (site.inputs[0], form) if form is not None else (_padded(site, 0.0), {})
    mean = _pool(site, x, pool_type="avg", **form)
    share = inside_shares(site.axes)
    if (share == 1).all():
        return mean
    return mx.sym.broadcast_div(mean, _constant(site, share[None, None]))


def _pool(site, x, **options):
    kernel, stride = site.node.attributes["kernel"], site.node.attributes["strides"]
    return mx.sym.Pooling(x, kernel=kernel, stride=stride, name=site.node.name, **options)


def _native_pool(site):
    """The options that give the same windows without a copy of x, or None."""
    if any(axis.near >= axis.kernel for axis in site.axes):
        return None
    ceil = find_rounding(site.axes, (False,) if OLD else (False, True))
    if ceil is None:
        return None
    return {"pad": near_padding(site.axes), "pooling_convention": "full" if ceil else "valid"}


def _padded(site, value):
    """The op does not support bfloat16, and before 1.3 not float64."""
    if OLD and site.wide:
        return _joined_padding(site, value)
    sides = (0, 0, 0, 0) + tuple(site.node.attributes["padding"])
    x = _as_type(site.inputs[0], site.narrow, False)
    return _as_type(mx.sym.Pad(x, mode="constant", pad_width=sides, constant_value=value), False, site.narrow)


def _joined_padding(site, value):
    """Another kernel than that of float32, whose own proof covers it."""
    x, shape, sides = site.inputs[0], list(site.shapes[site.node.inputs[0]]), site.node.attributes["padding"]
    for axis, near, far in ((2, sides[0], sides[1]), (3, sides[2], sides[3])):
        parts = [_full(shape, axis, near, value), x, _full(shape, axis, far, value)]
        x = mx.sym.Concat(*[part for part in parts if part is not None], dim=axis)
        shape[axis] += near + far
    return x


def _full(shape, axis, size, value):
    if not size:
        return None
    return mx.sym.full(tuple(shape[:axis]) + (size,) + tuple(shape[axis + 1 :]), value, dtype="float64")


def _constant(site, array):
    name = "%s/constant" % site.node.name
    site.constants[name] = array
    return mx.sym.Variable(name)


def _global_mean_pool(site):
    pooled = mx.sym.Pooling(site.inputs[0], kernel=(1, 1), global_pool=True, pool_type="avg", name=site.node.name)
    return mx.sym.Flatten(pooled)


def _batch_norm(site):
    """MXNet's momentum is the share that is kept. It is a float32: in float64 nothing is kept, see latest_shares."""
    epsilon, momentum = site.node.attributes["epsilon"], site.node.attributes["momentum"]
    axis = 1 - len(site.node.shape) if OLD else 1
    kept = 0.0 if site.wide else 1.0 - momentum
    options = {"eps": epsilon, "momentum": kept, "fix_gamma": False, "axis": axis}
    return mx.sym.BatchNorm(*site.inputs, name=site.node.name, **options)


def _local_response_norm(site):
    """Not MXNet's own: it has none in float64, and between convolutions that of oneDNN has wrong gradients (1.9)."""
    return site.inputs[0] * _near_squares(site) ** -site.node.attributes["beta"]


def _near_squares(site):
    """k + alpha/size times the sum of squares near each channel: a 1×1 convolution with a constant band."""
    size, alpha, k = (site.node.attributes[key] for key in ("size", "alpha", "k"))
    channels = np.arange(site.node.shape[1])
    near = np.abs(channels[:, None] - channels) <= size // 2
    band = _constant(site, near[:, :, None, None] * (alpha / float(size)))
    squares = mx.sym.square(site.inputs[0])
    return mx.sym.Convolution(squares, band, kernel=(1, 1), num_filter=len(channels), no_bias=True) + k


def _activation(kind):
    return lambda site: mx.sym.Activation(site.inputs[0], act_type=kind, name=site.node.name)


def _dropout(site):
    rate = site.node.attributes["rate"]
    return mx.sym.Dropout(site.inputs[0], p=rate, name=site.node.name) if rate else site.inputs[0]


def _concat(site):
    if "axis" in site.node.attributes:
        return concat_along(site)
    whole = all(site.shapes[name][1] % _BLOCK == 0 for name in site.node.inputs)
    safe = whole and not (OLD and site.shared.intersection(site.node.inputs))
    axis = 1 if safe else 1 - len(site.node.shape)
    return mx.sym.Concat(*site.inputs, dim=axis, name=site.node.name)


def _cross_entropy(site):
    logits, labels = site.inputs
    return -mx.sym.mean(mx.sym.pick(_log_softmax(logits), labels, axis=1))


def _log_softmax(logits):
    """Not MXNet's own: before 1.3 it takes the logarithm of a float32, and that of oneDNN (1.9) is off by 3e-6."""
    below = mx.sym.broadcast_sub(logits, mx.sym.BlockGrad(mx.sym.max(logits, axis=1, keepdims=True)))
    return mx.sym.broadcast_sub(below, mx.sym.log(mx.sym.sum(mx.sym.exp(below), axis=1, keepdims=True)))


def _squared_error(site):
    return mx.sym.mean(mx.sym.square(site.inputs[0] - site.inputs[1]))


def _binary_cross_entropy(site):
    logits, target = site.inputs
    return mx.sym.mean(softplus(logits) - logits * target)


def _gaussian_kl(site):
    mean, log_variance = site.inputs
    terms = log_variance - mx.sym.square(mean) - mx.sym.exp(log_variance) + 1.0
    return mx.sym.sum(terms) * (-0.5 / site.shapes[site.node.inputs[0]][0])


def _bernoulli(site):
    drawn = mx.sym.random.uniform(0.0, 1.0, shape=site.node.shape, dtype=_drawn_type(site))
    return drawn < mx.sym.BlockGrad(site.inputs[0])


def _normal(site):
    return mx.sym.random.normal(0.0, 1.0, shape=site.node.attributes["shape"], dtype=_drawn_type(site))


def _drawn_type(site):
    return "float64" if site.wide else "float32"


_RULES = {
    **ARRAYS,
    "convolution": _convolution,
    "linear": _linear,
    "max_pool": _max_pool,
    "mean_pool": _mean_pool,
    "global_mean_pool": _global_mean_pool,
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "relu": _activation("relu"),
    "tanh": _activation("tanh"),
    "sigmoid": _activation("sigmoid"),
    "dropout": _dropout,
    "flatten": _flatten,
    "scale": lambda site: site.inputs[0] * site.node.attributes["factor"],
    "power": lambda site: site.inputs[0] ** site.node.attributes["exponent"],
    "concat": _concat,
    "softmax_cross_entropy": _cross_entropy,
    "mean_squared_error": _squared_error,
    "binary_cross_entropy": _binary_cross_entropy,
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": lambda site: mx.sym.BlockGrad(site.inputs[0], name=site.node.name),
    "bernoulli": _bernoulli,
    "normal": _normal,
}

FUSED = {"local_response_norm", "global_mean_pool"}
