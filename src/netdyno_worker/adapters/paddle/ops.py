"""Which Python expression computes each op in Paddle.

The same serve dygraph and to_static, which reads a function's source.
"""

from collections import OrderedDict, namedtuple

from netdyno_worker.adapters.kit.source import Outline
from netdyno_worker.program import inputs_by_role, shapes

# text: a function `compute`; leaves: {name of a value it needs: its variable}; inputs: those that are inputs.
Source = namedtuple("Source", "text leaves inputs")

# What an op's rule may ask: its node, the variables of its inputs, every shape, the names of transposed parameters,
# the names of values that no gradient reaches, and how to write a number that a tensor is multiplied by.
_Site = namedtuple("_Site", "node inputs shapes transposed constant number")


def write_source(job, targets, attributes=False):
    """The function of `targets`: a tuple for a list of names, the value itself for one name.

    It takes the values of its leaves in one list, or with `attributes` the inputs one by one after a `self` whose
    attributes are the parameters, which is how to_static recognises parameters.
    """
    program = job.program
    outline, known = Outline(program, targets), shapes(program)
    turned, constant = transposed_parameters(program), _constants(program)
    number = "number({!r})".format if job.precision == "float64" else repr

    def express(node, variables):
        return _RULES[node.op](_Site(node, variables, known, turned, constant, number))

    text = outline.method_text(express) if attributes else outline.text(express)
    leaves = OrderedDict((name, outline.variable(name)) for name in outline.leaves)
    return Source(text, leaves, outline.inputs)


def transposed_parameters(program):
    """Weights that only linear nodes use: Paddle takes them as (inputs, outputs)."""
    as_weight, otherwise = set(), set(program.outputs)
    for node in program.nodes:
        for role, name in inputs_by_role(program, node):
            (as_weight if (node.op, role) == ("linear", "weight") else otherwise).add(name)
    return {p.name for p in program.parameters if p.name in as_weight - otherwise}


def _constants(program):
    """Names of values that do not depend on a parameter, or through which no gradient passes."""
    found = {source.name for source in program.inputs}
    for node in program.nodes:
        if program.facts[node.op].blocks_gradient or all(name in found for name in node.inputs):
            found.add(node.name)
    return found


def _convolution(site):
    strides, padding, groups = (list_of(site.node, key) for key in ("strides", "padding", "groups"))
    weight, bias = (site.inputs[1:] + ["None"])[:2]
    form = "F.conv2d(%s, %s, %s, %r, %r, 1, %d)"
    return form % (site.inputs[0], weight, bias, strides, _sides(padding), groups)


def _linear(site):
    if site.node.inputs[1] in site.transposed:
        return "F.linear(%s)" % ", ".join(site.inputs)
    product = "paddle.matmul(%s, %s, transpose_y=True)" % tuple(site.inputs[:2])
    return product if len(site.inputs) == 2 else "%s + %s" % (product, site.inputs[2])


def _pool(form):
    """Padding on four sides; it never counts in a mean, and a window's first maximum takes the gradient."""

    def rule(site):
        kernel, strides, padding = (list_of(site.node, key) for key in ("kernel", "strides", "padding"))
        return form % (site.inputs[0], kernel, strides, _sides(padding))

    return rule


def _sides(padding):
    top, bottom, left, right = padding
    return [top, left] if (top, left) == (bottom, right) else padding


def list_of(node, key):
    """An attribute as Paddle's functions take it."""
    value = node.attributes[key]
    return list(value) if isinstance(value, tuple) else value


def _batch_norm(site):
    x, scale, shift, mean, variance = site.inputs
    kept, epsilon = 1.0 - site.node.attributes["momentum"], site.node.attributes["epsilon"]
    return "batch_norm(%s, %s, %s, %s, %s, True, %r, %r)" % (x, mean, variance, scale, shift, kept, epsilon)


def _local_response_norm(site):
    size, alpha, beta, k = (site.node.attributes[key] for key in ("size", "alpha", "beta", "k"))
    return "local_response_norm(%s, %d, %r, %r, %r)" % (site.inputs[0], size, alpha, beta, k)


def _dropout(site):
    rate = site.node.attributes["rate"]
    return "F.dropout(%s, %r)" % (site.inputs[0], rate) if rate else site.inputs[0]


def _binary_cross_entropy(site):
    """Written out where the target is learnt: the library's own gives it no gradient."""
    if site.node.inputs[1] in site.constant:
        return "F.binary_cross_entropy_with_logits(%s, %s)" % tuple(site.inputs)
    return "paddle.mean(F.softplus({0}) - {0} * {1})".format(*site.inputs)


def _gaussian_kl(site):
    share = -0.5 / site.shapes[site.node.inputs[0]][0]
    return "paddle.sum(1.0 + {1} - {0} * {0} - paddle.exp({1})) * {2}".format(*(site.inputs + [site.number(share)]))


def _transposed_convolution(site):
    strides, padding, groups = (list_of(site.node, key) for key in ("strides", "padding", "groups"))
    weight, bias = (site.inputs[1:] + ["None"])[:2]
    form = "F.conv2d_transpose(%s, %s, %s, %r, %r, groups=%d)"
    return form % (site.inputs[0], weight, bias, strides, _sides(padding), groups)


def _one_hot(site):
    marks = "F.one_hot(%s, %d)" % (site.inputs[0], site.node.attributes["classes"])
    return marks if site.number is repr else "%s.astype('float64')" % marks


def _bounds(node):
    return node.attributes["low"], node.attributes["high"]


def _slice(site):
    axis, start, stop = (site.node.attributes[key] for key in ("axis", "start", "stop"))
    return "paddle.slice(%s, [%d], [%d], [%d])" % (site.inputs[0], axis, start, stop)


def _along_axes(function):
    return lambda site: (
        "%s(%s, %r, keepdim=%r)"
        % (
            function,
            site.inputs[0],
            list_of(site.node, "axes"),
            site.node.attributes["keep"],
        )
    )


def _form(text):
    return lambda site: text.format(*site.inputs)


_RULES = {
    "convolution": _convolution,
    "linear": _linear,
    "max_pool": _pool("F.max_pool2d(%s, %r, %r, %r)"),
    "mean_pool": _pool("mean_pool(%s, %r, %r, %r)"),
    "global_mean_pool": _form("paddle.mean({0}, [2, 3])"),
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "relu": _form("F.relu({0})"),
    "tanh": _form("paddle.tanh({0})"),
    "sigmoid": _form("F.sigmoid({0})"),
    "dropout": _dropout,
    "flatten": _form("paddle.flatten({0}, 1)"),
    "add": _form("{0} + {1}"),
    "multiply": _form("{0} * {1}"),
    "scale": lambda site: "%s * %s" % (site.inputs[0], site.number(site.node.attributes["factor"])),
    "power": lambda site: "power(%s, %r)" % (site.inputs[0], site.node.attributes["exponent"]),
    "concat": lambda site: "paddle.concat([%s], %d)" % (", ".join(site.inputs), site.node.attributes.get("axis", 1)),
    "transposed_convolution": _transposed_convolution,
    "matmul": _form("paddle.matmul({0}, {1})"),
    "reshape": lambda site: "paddle.reshape(%s, %r)" % (site.inputs[0], list(site.node.shape)),
    "transpose": lambda site: "paddle.transpose(%s, %r)" % (site.inputs[0], list_of(site.node, "axes")),
    "slice": _slice,
    "reduce_sum": _along_axes("paddle.sum"),
    "reduce_mean": _along_axes("paddle.mean"),
    "reduce_max": _along_axes("paddle.amax"),  # which shares among equal maxima
    "softmax": lambda site: "F.softmax(%s, %d)" % (site.inputs[0], site.node.attributes["axis"]),
    "subtract": _form("{0} - {1}"),
    "divide": _form("{0} / {1}"),
    "exp": _form("paddle.exp({0})"),
    "log": _form("paddle.log({0})"),
    "rsqrt": _form("paddle.rsqrt({0})"),
    "erf": _form("paddle.erf({0})"),
    "softplus": _form("F.softplus({0}, 1, 50)"),  # above, it is x: at its default of 20 not in float64
    "clamp": lambda site: "paddle.clip(%s, %r, %r)" % (site.inputs[0], *_bounds(site.node)),
    "gather": _form("F.embedding({1}, {0})"),
    "one_hot": _one_hot,
    "softmax_cross_entropy": _form("F.cross_entropy({0}, {1})"),
    "mean_squared_error": _form("F.mse_loss({0}, {1})"),
    "binary_cross_entropy": _binary_cross_entropy,
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": _form("{0}.detach()"),
    "bernoulli": _form("paddle.bernoulli({0}.detach())"),
    "normal": lambda site: "paddle.randn(%r)" % (list_of(site.node, "shape"),),
}

FUSED = {"local_response_norm", "global_mean_pool"}
