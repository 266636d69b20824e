"""Which Python computes a program with Chainer: straight-line source, one assignment per node, arguments as literals.

Nothing of the graph is walked in a step: at small batches each microsecond of Python shows.
"""

from collections import Counter, OrderedDict, namedtuple

import numpy as np

from netdyno_worker.program import nodes_for, shapes

# text: a function `compute(values)`; leaves: the names of `values`, in order; constants: {name: array} its text uses.
Source = namedtuple("Source", "text leaves constants")

# What an op's rule may ask: its node, the variables of its inputs, the shapes of its inputs, and where constants go.
_Site = namedtuple("_Site", "node inputs shapes constants")


def write_source(program, targets):
    """The function of `targets`: a tuple for a list of names, the value itself for one name."""
    wanted = [targets] if isinstance(targets, str) else list(targets)
    nodes = nodes_for(program, wanted)
    used = Counter(name for node in nodes for name in node.inputs) + Counter(wanted)
    leaves = [value.name for value in program.inputs + program.parameters if value.name in used]
    names = {name: "v%d" % i for i, name in enumerate(leaves + [node.name for node in nodes])}
    known, constants = shapes(program), {}
    lines = ["def compute(values):", "    %s = values" % "".join(names[leaf] + ", " for leaf in leaves)]
    for node, dead in zip(nodes, _last_uses(nodes, wanted)):
        site = _Site(node, [names[name] for name in node.inputs], [known[name] for name in node.inputs], constants)
        lines.append("    %s = %s  # %s" % (names[node.name], _RULES[node.op](site), node.name))
        if dead:
            # A local variable would hold its array to the end, whether or not the way back needs it.
            lines.append("    del " + ", ".join(names[name] for name in dead))
    results = ", ".join(names[name] for name in wanted)
    lines.append("    return " + (results if isinstance(targets, str) else "(%s,)" % results))
    return Source("\n".join(lines) + "\n", leaves, constants)


def _last_uses(nodes, wanted):
    """For each node, the earlier nodes that nothing after it reads."""
    produced = {node.name for node in nodes}
    seen = set(wanted)
    dead = []
    for node in reversed(nodes):
        last = [name for name in OrderedDict.fromkeys(node.inputs) if name in produced and name not in seen]
        seen.update(last)
        dead.append(last)
    return dead[::-1]


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
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    x, pad, cover_all = _padded(site, -np.inf), (0, 0), False
    for cover in (False, True):
        if _fits(site, cover):
            x, pad, cover_all = site.inputs[0], (padding[0], padding[2]), cover
            break
    return "F.max_pooling_2d(%s, %r, %r, %r, %r)" % (x, kernel, strides, pad, cover_all)


def _mean_pool(site):
    """Chainer counts padding, so a constant undoes that."""
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    if not any(padding):
        return "F.average_pooling_2d(%s, %r, %r)" % (site.inputs[0], kernel, strides)
    x, pad = _padded(site, 0.0), (0, 0)
    if _fits(site, False):
        x, pad = site.inputs[0], (padding[0], padding[2])
    constant = "c%d" % len(site.constants)
    site.constants[constant] = _whole_over_inside(site)
    return "F.average_pooling_2d(%s, %r, %r, %r) * %s" % (x, kernel, strides, pad, constant)


def _fits(site, cover_all):
    """Whether a native pool takes the same windows without a copy of x.

    What padding holds never counts, so a window is known by where it starts: only top and left padding and the
    number of windows matter, not how far they reach over the far edge.
    """
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    given = [
        (site.shapes[0][2 + i] + 2 * padding[2 * i] - kernel[i] + (strides[i] - 1 if cover_all else 0)) // strides[i]
        for i in (0, 1)
    ]
    return tuple(given) == tuple(count - 1 for count in site.node.shape[2:])


def _padded(site, value):
    top, bottom, left, right = site.node.attributes["padding"]
    sides = ((0, 0), (0, 0), (top, bottom), (left, right))
    return "F.pad(%s, %r, 'constant', constant_values=float(%r))" % (site.inputs[0], sides, str(value))


def _whole_over_inside(site):
    """A window's elements over those of them that lie over the image and not over padding."""
    kernel, strides, padding = (site.node.attributes[key] for key in ("kernel", "strides", "padding"))
    factors = []
    for i in (0, 1):
        starts = np.arange(site.node.shape[2 + i]) * strides[i] - padding[2 * i]
        inside = np.minimum(starts + kernel[i], site.shapes[0][2 + i]) - np.maximum(starts, 0)
        factors.append(kernel[i] / inside)
    return np.outer(*factors).astype(np.float32)[None, None]


def _batch_norm(site):
    epsilon, momentum = site.node.attributes["epsilon"], site.node.attributes["momentum"]
    return "batch_norm(%s, %r, %r)" % (", ".join(site.inputs), epsilon, 1.0 - momentum)


def _local_response_norm(site):
    """Chainer's alpha is not divided by the window's size."""
    size, alpha, beta, k = (site.node.attributes[key] for key in ("size", "alpha", "beta", "k"))
    return "F.local_response_normalization(%s, %d, %r, %r, %r)" % (site.inputs[0], size, k, alpha / size, beta)


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
    return "as_variable((xp.random.uniform(size=%r) < xp.asarray(%s.array)).astype('f'))" % (
        site.shapes[0],
        site.inputs[0],
    )


def _normal(site):
    return "as_variable(xp.random.standard_normal(%r).astype('f'))" % (site.node.attributes["shape"],)


def _form(text):
    return lambda site: text.format(*site.inputs)


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
    "concat": lambda site: "F.concat((%s,), 1)" % ", ".join(site.inputs),
    "softmax_cross_entropy": _form("F.softmax_cross_entropy({0}, {1})"),
    "mean_squared_error": _form("F.mean_squared_error({0}, {1})"),
    # Not sigmoid_cross_entropy, whose targets are whole numbers.
    "binary_cross_entropy": _form("F.mean(F.softplus({0}) - {0} * {1})"),
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": _form("as_variable({0}.array)"),
    "bernoulli": _bernoulli,
    "normal": _normal,
}
