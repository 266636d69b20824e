"""Which Python expression computes each op in Chainer."""

from collections import namedtuple

import numpy as np

from netdyno_worker.adapters.chainer.layouts import Layouts
from netdyno_worker.adapters.kit.source import Outline
from netdyno_worker.adapters.kit.windows import axes_of, find_rounding, inside_shares, near_padding
from netdyno_worker.program import shapes

# text: a function `compute(values)`; leaves: the names of `values`, in order; constants: {name: array} its text uses.
Source = namedtuple("Source", "text leaves constants")

# What an op's rule may ask: its node, the variables of its inputs, the shapes of its inputs, the axes of its windows
# if it has any, where constants go, and what iDeep does.
_Site = namedtuple("_Site", "node inputs shapes axes constants layouts")


def write_source(program, targets):
    """The function of `targets`: a tuple for a list of names, the value itself for one name."""
    outline, known, constants = Outline(program, targets), shapes(program), {}
    layouts = Layouts(program, outline.nodes)

    def express(node, variables):
        axes = axes_of(node, known) if "strides" in node.attributes else ()
        inputs = [
            "plain(%s)" % variable if (node.name, name) in layouts.left else variable
            for variable, name in zip(variables, node.inputs)
        ]
        return _RULES[node.op](_Site(node, inputs, [known[name] for name in node.inputs], axes, constants, layouts))

    return Source(outline.text(express), outline.leaves, constants)


def _convolution(site):
    top, bottom, left, right = site.node.attributes["padding"]
    inputs, pad = list(site.inputs), (top, left)
    if (top, left) != (bottom, right):
        inputs[0], pad = _padded(site, 0.0), (0, 0)
    options = "stride=%r, pad=%r" % (site.node.attributes["strides"], pad)
    if site.node.attributes["groups"] > 1:
        options += ", groups=%d" % site.node.attributes["groups"]
    return "F.convolution_2d(%s, %s)" % (", ".join(inputs), options)


def _max_pool(site):
    kernel, strides = site.node.attributes["kernel"], site.node.attributes["strides"]
    cover_all = find_rounding(site.axes)
    if cover_all is None:
        return "F.max_pooling_2d(%s, %r, %r, (0, 0), False)" % (_padded(site, -np.inf), kernel, strides)
    x, pad = site.inputs[0], near_padding(site.axes)
    if site.node.inputs[0] in site.layouts.reordered:
        x = "%s + 0.0" % x  # a copy that nobody else reads
    return "F.max_pooling_2d(%s, %r, %r, %r, %r)" % (x, kernel, strides, pad, cover_all)


def _mean_pool(site):
    """Chainer counts padding, which a constant corrects."""
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    if not any(padding):
        return "F.average_pooling_2d(%s, %r, %r)" % (site.inputs[0], kernel, strides)
    x, pad = _padded(site, 0.0), (0, 0)
    if find_rounding(site.axes, (False,)) is not None:
        x, pad = site.inputs[0], near_padding(site.axes)
    constant = "c%d" % len(site.constants)
    site.constants[constant] = 1.0 / inside_shares(site.axes)[None, None]
    return "F.average_pooling_2d(%s, %r, %r, %r) * %s" % (x, kernel, strides, pad, constant)


def _padded(site, value):
    top, bottom, left, right = site.node.attributes["padding"]
    sides = ((0, 0), (0, 0), (top, bottom), (left, right))
    return "F.pad(%s, %r, 'constant', constant_values=float(%r))" % (site.inputs[0], sides, str(value))


def _batch_norm(site):
    epsilon, momentum = site.node.attributes["epsilon"], site.node.attributes["momentum"]
    return "batch_norm(%s, %r, %r)" % (", ".join(site.inputs), epsilon, 1.0 - momentum)


def _local_response_norm(site):
    """Chainer's alpha is not divided by the window's size."""
    size, alpha, beta, k = (site.node.attributes[key] for key in ("size", "alpha", "beta", "k"))
    native = site.node.inputs[0] in site.layouts.as_convolved
    name = "F.local_response_normalization" if native else "response_norm"
    return "%s(%s, %d, %r, %r, %r)" % (name, site.inputs[0], size, k, alpha / size, beta)


def _global_mean_pool(site):
    batch, channels, height, width = site.shapes[0]
    pooled = "F.average_pooling_2d(%s, %r)" % (site.inputs[0], (height, width))
    return "%s.reshape(%d, %d)" % (pooled, batch, channels)


def _dropout(site):
    rate = site.node.attributes["rate"]
    return "F.dropout(%s, %r)" % (site.inputs[0], rate) if rate else site.inputs[0]


def _gaussian_kl(site):
    return "F.gaussian_kl_divergence(%s, %s) * %r" % (tuple(site.inputs) + (1.0 / site.shapes[0][0],))


def _bernoulli(site):
    return "as_variable((xp.random.uniform(size=%r) < xp.asarray(%s.array)).astype(dtype))" % (
        site.shapes[0],
        site.inputs[0],
    )


def _normal(site):
    return "as_variable(xp.random.standard_normal(%r).astype(dtype))" % (site.node.attributes["shape"],)


def _transposed_convolution(site):
    """Where one side has more padding than the other, the rest is cut off afterwards."""
    top, bottom, left, right = site.node.attributes["padding"]
    pad, cut = (min(top, bottom), min(left, right)), ""
    if (top, left) != (bottom, right):
        height, width = site.node.shape[2:]
        rows, columns = top - pad[0], left - pad[1]
        cut = "[:, :, %d:%d, %d:%d]" % (rows, rows + height, columns, columns + width)
    strides, groups = site.node.attributes["strides"], site.node.attributes["groups"]
    options = "stride=%r, pad=%r, groups=%d" % (strides, pad, groups)
    return "F.deconvolution_2d(%s, %s)%s" % (", ".join(site.inputs), options, cut)


def _slice(site):
    axis, start, stop = (site.node.attributes[key] for key in ("axis", "start", "stop"))
    return "%s[%s%d:%d]" % (site.inputs[0], ":, " * axis, start, stop)


def _one_hot(site):
    marks = "as_variable(%s).array[..., None] == xp.arange(%d)" % (site.inputs[0], site.node.attributes["classes"])
    return "as_variable((%s).astype(dtype))" % marks


def _form(text):
    return lambda site: text.format(*site.inputs, **site.node.attributes)


_RULES = {
    "convolution": _convolution,
    "linear": lambda site: "F.linear(%s)" % ", ".join(site.inputs),
    "max_pool": _max_pool,
    "mean_pool": _mean_pool,
    "global_mean_pool": _global_mean_pool,
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "relu": _form("F.relu({0})"),
    "tanh": _form("F.tanh({0})"),
    "sigmoid": _form("F.sigmoid({0})"),
    "dropout": _dropout,
    "flatten": lambda site: "%s.reshape(%d, -1)" % (site.inputs[0], site.shapes[0][0]),
    "add": _form("{0} + {1}"),
    "multiply": _form("{0} * {1}"),
    "scale": lambda site: "%s * %r" % (site.inputs[0], site.node.attributes["factor"]),
    "power": lambda site: "%s ** %r" % (site.inputs[0], site.node.attributes["exponent"]),
    "concat": lambda site: "F.concat((%s,), %d)" % (", ".join(site.inputs), site.node.attributes.get("axis", 1)),
    "transposed_convolution": _transposed_convolution,
    "matmul": _form("F.matmul({0}, {1})"),
    "reshape": lambda site: "F.reshape(%s, %r)" % (site.inputs[0], site.node.shape),
    "transpose": _form("F.transpose({0}, {axes!r})"),
    "slice": _slice,
    "reduce_sum": _form("F.sum({0}, {axes!r}, {keep!r})"),
    "reduce_mean": _form("F.mean({0}, {axes!r}, keepdims={keep!r})"),
    "softmax": _form("F.softmax({0}, {axis!r})"),
    "subtract": _form("{0} - {1}"),
    "divide": _form("{0} / {1}"),
    "exp": _form("F.exp({0})"),
    "log": _form("F.log({0})"),
    "rsqrt": _form("F.rsqrt({0})"),
    "erf": _form("F.erf({0})"),
    "softplus": _form("F.softplus({0})"),
    "clamp": _form("F.clip({0}, {low!r}, {high!r})"),
    "gather": _form("F.embed_id({1}, {0})"),
    "one_hot": _one_hot,
    "softmax_cross_entropy": _form("F.softmax_cross_entropy({0}, {1})"),
    "mean_squared_error": _form("F.mean_squared_error({0}, {1})"),
    # Not sigmoid_cross_entropy, whose targets are whole numbers.
    "binary_cross_entropy": _form("F.mean(F.softplus({0}) - {0} * {1})"),
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": _form("as_variable({0}.array)"),
    "bernoulli": _bernoulli,
    "normal": _normal,
}

FUSED = {"local_response_norm", "global_mean_pool"}
