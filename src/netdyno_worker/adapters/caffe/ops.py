"""Which Caffe layers compute a program: one rule per op, composed of Caffe's own layers where it has none."""

from collections import Counter, namedtuple

import numpy as np

from netdyno_worker.adapters.caffe import windows
from netdyno_worker.adapters.caffe.net import Net, Statistics, Word, dimensions
from netdyno_worker.adapters.kit.windows import axes_of
from netdyno_worker.contract import Unsupported
from netdyno_worker.program import nodes_for, shapes

# floor: this Caffe's pools can round down. apart: a batch norm's shift in a layer of its own, because the one
# inside Caffe's Scale layer cannot be replaced by another net's.
Setup = namedtuple("Setup", "floor apart")
# What a rule may ask: the net, the node, every shape, whether it may overwrite its first input, the setup.
_Site = namedtuple("_Site", "net node shapes inplace setup")

# The gradients of these layers do not read their output; nor does dropout need a relu's.
_FORGETS_OUTPUT = ("convolution", "linear", "batch_norm", "add")
_MAY_OVERWRITE = {
    "relu": _FORGETS_OUTPUT,
    "tanh": _FORGETS_OUTPUT,
    "sigmoid": _FORGETS_OUTPUT,
    "dropout": _FORGETS_OUTPUT + ("relu",),
}


def write_net(program, targets, trained, setup):
    """A Net in which every target has a place and the parameters `trained` are moved by its solver."""
    nodes = nodes_for(program, targets)
    used = Counter(name for node in nodes for name in node.inputs) + Counter(targets)
    producer = {node.name: node.op for node in nodes}
    net, known = Net(program, trained), shapes(program)
    for source in program.inputs:
        if source.name in used:
            net.places[source.name] = net.add_input(source.name, source.shape)
            net.inputs.append(source.name)
    for node in nodes:
        only_use = len(node.inputs) == 1 and used[node.inputs[0]] == 1
        inplace = only_use and producer.get(node.inputs[0]) in _MAY_OVERWRITE.get(node.op, ())
        net.places[node.name] = _RULES[node.op](_Site(net, node, known, inplace, setup))
    for name in targets:
        net.value(name)
    return net


def _convolution(site):
    node, net = site.node, site.net
    pair = axes_of(node, site.shapes)
    fits = [windows.fit_convolution(axis) for axis in pair]
    settings = [
        ("num_output", node.shape[1]),
        ("bias_term", len(node.inputs) > 2),
        ("group", node.attributes["groups"]),
    ]
    settings += _window_settings(pair, fits)
    whole = windows.is_exact(pair, fits)
    bottoms = [net.value(node.inputs[0])]
    name = node.name if whole else node.name + "/whole"
    value = net.add(name, "Convolution", bottoms, [("convolution_param", settings)], _weights(site))
    return value if whole else _crop(site, value, fits)


def _linear(site):
    node = site.node
    settings = [("num_output", node.shape[1]), ("bias_term", len(node.inputs) > 2)]
    bottoms = [site.net.value(node.inputs[0])]
    return site.net.add(node.name, "InnerProduct", bottoms, [("inner_product_param", settings)], _weights(site))


def _max_pool(site):
    pair, fits, settings = _pool(site)
    settings.append(("pool", Word("MAX")))
    return _pooled(site, pair, fits, settings)


def _mean_pool(site):
    pair, fits, settings = _pool(site)
    settings.append(("pool", Word("AVE")))
    if windows.reaches_outside(pair, fits):
        settings.append(("engine", Word("CAFFE")))
    correction = windows.mean_corrections(pair, fits)
    if correction is None:
        return _pooled(site, pair, fits, settings)
    name = site.node.name
    counted = _pooled(site._replace(node=site.node._replace(name=name + "/counted")), pair, fits, settings)
    factors = site.net.add_input(name + "/correction", site.node.shape)
    site.net.constants[factors.blob] = np.broadcast_to(correction, site.node.shape).astype(np.float32)
    return site.net.add(name, "Eltwise", [counted, factors], _eltwise("PROD"))


def _pool(site):
    """The axes, how Caffe covers them, and the settings for it."""
    node = site.node
    pair = axes_of(node, site.shapes)
    if site.setup.floor:
        fits = windows.fit_pool(pair, True)
        if fits and windows.is_exact(pair, fits):
            return pair, fits, _window_settings(pair, fits) + [("round_mode", Word("FLOOR"))]
    fits = windows.fit_pool(pair, False)
    if fits is None:
        raise Unsupported("%s (node '%s'): no padding of Caffe's gives its windows" % (node.op, node.name))
    return pair, fits, _window_settings(pair, fits)


def _pooled(site, pair, fits, settings):
    whole = windows.is_exact(pair, fits)
    name = site.node.name if whole else site.node.name + "/whole"
    value = site.net.add(name, "Pooling", [site.net.value(site.node.inputs[0])], [("pooling_param", settings)])
    return value if whole else _crop(site, value, fits)


def _window_settings(pair, fits):
    found = []
    for side, axis, fit in zip("hw", pair, fits):
        found += [("kernel_" + side, axis.kernel), ("stride_" + side, axis.stride), ("pad_" + side, fit.padding)]
    return found


def _crop(site, value, fits):
    """The node's windows among those computed; Caffe wants the size as a blob, which is never filled."""
    size = site.net.add_input(site.node.name + "/size", site.node.shape)
    settings = [("axis", 2)] + [("offset", fit.first) for fit in fits]
    return site.net.add(site.node.name, "Crop", [value, size], [("crop_param", settings)])


def _global_mean_pool(site):
    settings = [("pooling_param", [("pool", Word("AVE")), ("global_pooling", True)])]
    pooled = site.net.add(site.node.name + "/pool", "Pooling", [site.net.value(site.node.inputs[0])], settings)
    return site.net.add(site.node.name, "Flatten", [pooled])


def _batch_norm(site):
    """Caffe keeps its statistics as decaying sums, and the sum of their weights beside them."""
    net, node = site.net, site.node
    momentum = node.attributes["momentum"]
    settings = [("moving_average_fraction", 1.0 - momentum), ("eps", node.attributes["epsilon"])]
    settings.append(("use_global_stats", False))
    name = node.name + "/normal"
    still = [("param", [("lr_mult", 0.0)])] * 3
    normal = net.add(name, "BatchNorm", [net.value(node.inputs[0])], [("batch_norm_param", settings)] + still)
    net.statistics.append(Statistics(name, node.inputs[3], node.inputs[4], momentum))
    scale, shift = _weights(site)[:2]
    if not site.setup.apart:
        return net.add(node.name, "Scale", [normal], [("scale_param", [("bias_term", True)])], [scale, shift])
    scaled = net.add(node.name + "/scale", "Scale", [normal], weights=[scale])
    return net.add(node.name, "Bias", [scaled], weights=[shift])


def _local_response_norm(site):
    size, alpha, beta, k = (site.node.attributes[key] for key in ("size", "alpha", "beta", "k"))
    settings = [("local_size", size), ("alpha", alpha), ("beta", beta), ("k", k)]
    return _one(site, "LRN", [("lrn_param", settings)])


def _dropout(site):
    rate = site.node.attributes["rate"]
    if rate == 0:
        return site.net.value(site.node.inputs[0])
    return _one(site, "Dropout", [("dropout_param", [("dropout_ratio", rate)])])


def _flatten(site):
    """By Reshape: Flatten replaces the memory of its bottom's gradient, and a parameter's would be lost."""
    return _one(site, "Reshape", [("reshape_param", [("shape", dimensions([0, -1]))])])


def _scale(site):
    return _one(site, "Power", [("power_param", [("scale", site.node.attributes["factor"])])])


def _power(site):
    return _one(site, "Power", [("power_param", [("power", site.node.attributes["exponent"])])])


def _cross_entropy(site):
    logits, labels = _values(site)
    return site.net.add_loss(site.node.name, "SoftmaxWithLoss", [logits, labels._replace(need=False)])


def _squared_error(site):
    """Caffe's loss is half the sum over the batch size, the graph's the mean over all elements."""
    shape = site.shapes[site.node.inputs[0]]
    half = site.net.add_loss(site.node.name + "/half", "EuclideanLoss", _values(site))
    factor = 2.0 * shape[0] / float(np.prod(shape))
    return site.net.add(site.node.name, "Power", [half], [("power_param", [("scale", factor)])])


def _binary_cross_entropy(site):
    """From log(1 + e^x) - xt where the target is learnt: Caffe's own loss then refuses."""
    net, name = site.net, site.node.name
    logits, target = _values(site)
    if not target.need:
        normalized = [("loss_param", [("normalization", Word("FULL"))])]
        return net.add_loss(name, "SigmoidCrossEntropyLoss", [logits, target], normalized)
    product = net.add(name + "/product", "Eltwise", [logits, target], _eltwise("PROD"))
    soft = net.add(name + "/soft", "BNLL", [logits])
    terms = net.add(name + "/terms", "Eltwise", [soft, product], _eltwise("SUM", (1.0, -1.0)))
    return net.add(name, "Reduction", [terms], [("reduction_param", [("operation", Word("MEAN")), ("axis", 0)])])


def _gaussian_kl(site):
    net, name = site.net, site.node.name
    mean, log_variance = _values(site)
    square = net.add(name + "/square", "Power", [mean], [("power_param", [("power", 2.0)])])
    variance = net.add(name + "/variance", "Exp", [log_variance])
    rest = net.add(name + "/rest", "Power", [log_variance], [("power_param", [("scale", -1.0), ("shift", -1.0)])])
    terms = net.add(name + "/terms", "Eltwise", [square, variance, rest], _eltwise("SUM"))
    half = 0.5 / site.shapes[site.node.inputs[0]][0]
    reduction = [("operation", Word("SUM")), ("axis", 0), ("coeff", half)]
    return net.add(name, "Reduction", [terms], [("reduction_param", reduction)])


def _stop_gradient(site):
    """The same blob: the layers that read it are set not to pass a gradient."""
    return site.net.value(site.node.inputs[0])._replace(need=False)


def _bernoulli(site):
    """1 where the probability exceeds a uniform draw, which stays below 1."""
    net, name = site.net, site.node.name
    filler = [("type", "uniform"), ("min", 0.0), ("max", 0.9999999)]
    drawn = _drawn(net, name + "/drawn", site.node.shape, filler)
    probability = net.value(site.node.inputs[0])._replace(need=False)
    excess = net.add(name + "/excess", "Eltwise", [probability, drawn], _eltwise("SUM", (1.0, -1.0)))
    return net.add(name, "Threshold", [excess])


def _normal(site):
    return _drawn(site.net, site.node.name, site.node.shape, [("type", "gaussian"), ("std", 1.0)])


def _drawn(net, name, shape, filler):
    settings = [("shape", dimensions(shape)), ("data_filler", filler)]
    return net.add(name, "DummyData", [], [("dummy_data_param", settings)])


def _eltwise(operation, coefficients=()):
    settings = [("operation", Word(operation))] + [("coeff", factor) for factor in coefficients]
    return [("eltwise_param", settings)]


def _one(site, kind, settings=()):
    return site.net.add(site.node.name, kind, [site.net.value(site.node.inputs[0])], settings, inplace=site.inplace)


def _values(site):
    return [site.net.value(name) for name in site.node.inputs]


def _weights(site):
    """The parameters that the node's layer holds."""
    for name in site.node.inputs[1:]:
        if not site.net.is_parameter(name):
            raise Unsupported(
                "node '%s': Caffe's layers hold their weights, '%s' is computed" % (site.node.name, name)
            )
    return site.node.inputs[1:]


def _plain(kind, settings=()):
    return lambda site: _one(site, kind, settings)


_RULES = {
    "convolution": _convolution,
    "linear": _linear,
    "max_pool": _max_pool,
    "mean_pool": _mean_pool,
    "global_mean_pool": _global_mean_pool,
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "relu": _plain("ReLU"),
    "tanh": _plain("TanH"),
    "sigmoid": _plain("Sigmoid"),
    "dropout": _dropout,
    "flatten": _flatten,
    "add": lambda site: site.net.add(site.node.name, "Eltwise", _values(site), _eltwise("SUM")),
    "multiply": lambda site: site.net.add(site.node.name, "Eltwise", _values(site), _eltwise("PROD")),
    "scale": _scale,
    "power": _power,
    "concat": lambda site: site.net.add(site.node.name, "Concat", _values(site)),
    "softmax_cross_entropy": _cross_entropy,
    "mean_squared_error": _squared_error,
    "binary_cross_entropy": _binary_cross_entropy,
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": _stop_gradient,
    "bernoulli": _bernoulli,
    "normal": _normal,
}

FUSED = {"local_response_norm", "global_mean_pool"}
