"""Which Python expression computes each op in PyTorch.

Functions under `torch` are called where `torch.nn.functional` only wraps them with checks that the graph has passed.
"""

from collections import namedtuple

import numpy as np

from netdyno_worker.adapters.kit.source import Outline
from netdyno_worker.adapters.kit.windows import (
    axes_of,
    find_rounding,
    inside_shares,
    near_padding,
    needs_subsampling,
    window_count,
)
from netdyno_worker.adapters.pytorch import composites
from netdyno_worker.program import shapes

# text: a function `compute(values)`; leaves: the names of `values`, in order; constants: {name: array} its text uses.
Source = namedtuple("Source", "text leaves constants")

# What an op's rule may ask: its node, the variables of its inputs, which of them it may overwrite, the shape of every
# value, whether losses need widening, the device, and where constants go.
_Site = namedtuple("_Site", "node inputs inplace shapes widen device constants")

# The backward pass of these does not read their output, so a following relu or add may overwrite it.
_FORGETS_OUTPUT = (
    *("convolution", "transposed_convolution", "linear", "matmul"),
    *("batch_norm", "add", "concat", "max_pool", "mean_pool"),
)


def write_source(program, targets, device, widen):
    """The function of `targets`: a tuple for a list of names, the value itself for one name.

    `widen` asks for losses in float32 where the values before them may be narrower.
    """
    outline, known, constants = Outline(program, targets), shapes(program), {}
    outline.nodes = composites.stacked(outline.nodes, outline.used, known)
    producer = {node.name: node.op for node in outline.nodes}

    def express(node, variables):
        inplace = [outline.used[name] == 1 and producer.get(name) in _FORGETS_OUTPUT for name in node.inputs]
        return _RULES[node.op](_Site(node, variables, inplace, known, widen, device, constants))

    return Source(outline.text(express), outline.leaves, constants)


def _convolution(site):
    top, bottom, left, right = site.node.attributes["padding"]
    x, padding = site.inputs[0], (top, left)
    if (top, left) != (bottom, right):
        x, padding = "F.pad(%s, %r)" % (x, (left, right, top, bottom)), (0, 0)
    weight, bias = (site.inputs[1:] + ["None"])[:2]
    strides, groups = site.node.attributes["strides"], site.node.attributes["groups"]
    if padding == (0, 0) and _needs_subsampling(site):
        x, strides = "%s[:, :, ::%d, ::%d]" % ((x,) + tuple(strides)), (1, 1)
    return "torch.conv2d(%s, %s, %s, %r, %r, (1, 1), %d)" % (x, weight, bias, strides, padding, groups)


def _needs_subsampling(site):
    channels = site.shapes[site.node.inputs[1]][1]
    return site.device == "cpu" and needs_subsampling(axes_of(site.node, site.shapes), channels)


def _linear(site):
    return "F.linear(%s)" % ", ".join(site.inputs)


def _max_pool(site):
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    native = _native_pool(site)
    if native is not None:
        return "torch.max_pool2d(%s, %r, %r, %r, (1, 1), %r)" % ((site.inputs[0], kernel, strides) + native)
    top, bottom, left, right = padding
    padded = "F.pad(%s, %r, value=-math.inf)" % (site.inputs[0], (left, right, top, bottom))
    return "torch.max_pool2d(%s, %r, %r)" % (padded, kernel, strides)


def _mean_pool(site):
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    native = _native_pool(site)
    if native is not None:
        return "F.avg_pool2d(%s, %r, %r, %r, %r, False)" % ((site.inputs[0], kernel, strides) + native)
    top, bottom, left, right = padding
    padded = "F.pad(%s, %r)" % (site.inputs[0], (left, right, top, bottom))
    constant = "c%d" % len(site.constants)
    site.constants[constant] = inside_shares(axes_of(site.node, site.shapes))[None, None]
    return "F.avg_pool2d(%s, %r, %r) / %s" % (padded, kernel, strides, constant)


def _native_pool(site):
    """(padding, ceil mode) that give the same windows without a copy of x, or None."""
    axes = axes_of(site.node, site.shapes)
    if any(2 * axis.near > axis.kernel for axis in axes):
        return None
    ceil = find_rounding(axes, count=_native_count)
    return None if ceil is None else (near_padding(axes), ceil)


def _native_count(axis, padding, ceil):
    """How many windows a native pool takes: in ceil mode the last must start inside the image or before it."""
    count = window_count(axis, padding, ceil)
    return count - 1 if ceil and (count - 1) * axis.stride >= axis.size + padding else count


def _batch_norm(site):
    momentum, epsilon = site.node.attributes["momentum"], site.node.attributes["epsilon"]
    fast = "torch.backends.cudnn.enabled"
    return "torch.batch_norm(%s, True, %r, %r, %s)" % (", ".join(site.inputs), momentum, epsilon, fast)


def _local_response_norm(site):
    size, alpha, beta, k = (site.node.attributes[key] for key in ("size", "alpha", "beta", "k"))
    return "local_response_norm(%s, %r, %r, %r, %r)" % (site.inputs[0], size, alpha, beta, k)


def _relu(site):
    return "torch.relu%s(%s)" % ("_" if site.inplace[0] else "", site.inputs[0])


def _add(site):
    for i, name in enumerate(site.node.inputs):
        if site.inplace[i] and site.shapes[name] == site.node.shape:
            return "%s.add_(%s)" % (site.inputs[i], site.inputs[1 - i])
    return "%s + %s" % tuple(site.inputs)


def _dropout(site):
    rate = site.node.attributes["rate"]
    return "torch.dropout(%s, %r, True)" % (site.inputs[0], rate) if rate else site.inputs[0]


def _transposed_convolution(site):
    """Where one side has more padding than the other, the rest is cut off afterwards."""
    weight, bias = (site.inputs[1:] + ["None"])[:2]
    top, bottom, left, right = site.node.attributes["padding"]
    near, cut = (min(top, bottom), min(left, right)), ""
    if (top, left) != (bottom, right):
        rows, columns = (_without(a - n, b - n) for a, b, n in ((top, bottom, near[0]), (left, right, near[1])))
        cut = "[:, :, %s, %s]" % (rows, columns)
    strides, groups = site.node.attributes["strides"], site.node.attributes["groups"]
    call = "torch.conv_transpose2d(%s, %s, %s, %r, %r, (0, 0), %d)"
    return call % (site.inputs[0], weight, bias, strides, near, groups) + cut


def _flatten(site):
    return "%s.flatten(1)" % site.inputs[0]


def _loss(form):
    """A loss of two values, computed in float32 even where what came before is narrower."""

    def rule(site):
        wide = [name + ".float()" if site.widen else name for name in site.inputs]
        return form.format(*wide, count=float(site.shapes[site.node.inputs[0]][0]))

    return rule


def _cross_entropy(site):
    return "F.cross_entropy(%s%s, %s)" % (site.inputs[0], ".float()" if site.widen else "", site.inputs[1])


def _normal(site):
    return "torch.randn(%r, device=%r)" % (site.node.attributes["shape"], site.device)


def _one_hot(site):
    """By comparison in the type of a constant: what PyTorch has for it makes whole numbers."""
    constant = "c%d" % len(site.constants)
    site.constants[constant] = np.arange(site.node.attributes["classes"])
    return "(%s.type_as(%s).unsqueeze(-1) == %s).type_as(%s)" % (site.inputs[0], constant, constant, constant)


def _without(before, after):
    """What indexes an axis without its first and last elements."""
    return "%s:%s" % (before or "", -after or "")


def _span(attributes):
    """(axis, start, length)."""
    return attributes["axis"], attributes["start"], attributes["stop"] - attributes["start"]


def _attributed(text):
    return lambda site: text.format(*site.inputs, **site.node.attributes)


def _form(text):
    return lambda site: text.format(*site.inputs)


_RULES = {
    "convolution": _convolution,
    "transposed_convolution": _transposed_convolution,
    "linear": _linear,
    "max_pool": _max_pool,
    "mean_pool": _mean_pool,
    "global_mean_pool": _form("{0}.mean((2, 3))"),
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "relu": _relu,
    "tanh": _form("torch.tanh({0})"),
    "sigmoid": _form("torch.sigmoid({0})"),
    "dropout": _dropout,
    "flatten": _flatten,
    "add": _add,
    "multiply": _form("{0} * {1}"),
    "scale": _attributed("{0} * {factor!r}"),
    "power": _attributed("torch.pow({0}, {exponent!r})"),
    "concat": lambda site: "torch.cat((%s,), %d)" % (", ".join(site.inputs), site.node.attributes.get("axis", 1)),
    "subtract": _form("{0} - {1}"),
    "divide": _form("{0} / {1}"),
    "exp": _form("torch.exp({0})"),
    "log": _form("torch.log({0})"),
    "rsqrt": _form("torch.rsqrt({0})"),
    "erf": _form("torch.erf({0})"),
    "softplus": _form("F.softplus({0}, 1.0, 50.0)"),  # above, it is x: at its default of 20 not in float64
    "clamp": _attributed("torch.clamp({0}, {low!r}, {high!r})"),
    "reshape": lambda site: "%s.reshape(%r)" % (site.inputs[0], site.node.shape),
    "transpose": _attributed("{0}.permute({axes!r})"),
    "slice": lambda site: "%s.narrow(%d, %d, %d)" % ((site.inputs[0],) + _span(site.node.attributes)),
    "reduce_sum": _attributed("{0}.sum({axes!r}, {keep!r})"),
    "reduce_mean": _attributed("{0}.mean({axes!r}, {keep!r})"),
    "reduce_max": _attributed("torch.amax({0}, {axes!r}, {keep!r})"),
    "softmax": _attributed("torch.softmax({0}, {axis!r})"),
    "matmul": _form("torch.matmul({0}, {1})"),
    "gather": _form("F.embedding({1}, {0})"),
    "one_hot": _one_hot,
    "softmax_cross_entropy": _cross_entropy,
    "mean_squared_error": _loss("F.mse_loss({0}, {1})"),
    "binary_cross_entropy": _loss("F.binary_cross_entropy_with_logits({0}, {1})"),
    "gaussian_kl": _loss("(1 + {1} - {0} * {0} - {1}.exp()).sum() * (-0.5 / {count!r})"),
    "stop_gradient": _form("{0}.detach()"),
    "bernoulli": _form("torch.bernoulli({0}.detach())"),
    "normal": _normal,
}
_RULES.update(composites.RULES)

# Those of later versions are left out by the specs of earlier ones.
FUSED = {
    "local_response_norm",
    "global_mean_pool",
    "silu",
    "relu6",
    "hard_swish",
    "gelu",
    "layer_norm",
    "group_norm",
    "attention",
    "rnn",
    "lstm",
    "gru",
}
