"""Which Caffe2 operators compute each op of a graph.

A rule is given a Site and adds operators to its net; the last of them writes the blob that the node is known by.
Devices are not chosen here: the operators of the gradient do not exist yet.
"""

from collections import Counter, namedtuple

from caffe2.proto import caffe2_pb2

from netdyno_worker.adapters.caffe2.arrays import ARRAYS, plain
from netdyno_worker.adapters.kit.windows import axes_of
from netdyno_worker.program import shapes

# net: the core.Net to add to; node; inputs: blobs of the node's inputs; out: the blob to write;
# shapes: of every value; learnt: the names of values through which a gradient is wanted.
Site = namedtuple("Site", "net node inputs out shapes learnt")

ONE = "constant/1"  # a blob that must hold the number one

# The gradients of these do not read their output, so a following activation may overwrite it.
_FORGETS_OUTPUT = ("convolution", "transposed_convolution", "linear", "batch_norm", "add", "concat")
_OVERWRITES = ("relu", "tanh", "sigmoid")


class Emitter(object):
    """Writes the nodes of some targets into a net, under names of its own; see blob_of."""

    def __init__(self, net, program, nodes):
        self._net = net
        self._nodes = nodes
        self._facts = program.facts
        self._shapes = shapes(program)
        self._blobs = {value.name: value.name for value in program.inputs + program.parameters}
        self._prefix = net.Name() + "/"

    def emit(self, wanted, learning):
        """Add the operators. `wanted` values keep blobs of their own; `learning` are the parameters to be learnt."""
        self._learnt = set(learning)
        self._used = Counter(name for node in self._nodes for name in node.inputs) + Counter(wanted)
        producers = {node.name: node for node in self._nodes}
        for node in self._nodes:
            if not self._facts[node.op].blocks_gradient and self._learnt.intersection(node.inputs):
                self._learnt.add(node.name)
            if self._is_free(node, wanted):
                self._blobs[node.name] = self._blobs[node.inputs[0]]
                continue
            self._blobs[node.name] = self._output(node, producers)
            inputs = [self._blobs[name] for name in node.inputs]
            out = self._blobs[node.name]
            RULES[node.op](Site(self._net, node, inputs, out, self._shapes, self._learnt))

    def blob_of(self, name):
        return self._blobs[name]

    def _is_free(self, node, wanted):
        """Whether nothing is computed: dropout of rate 0, or a flatten read only by FC operators, which flatten."""
        if node.op == "dropout":
            return node.attributes["rate"] == 0
        if node.op != "flatten" or node.name in wanted:
            return False
        readers = [reader for reader in self._nodes if node.name in reader.inputs]
        return all(r.op == "linear" and len(r.inputs) == 3 and node.name not in r.inputs[1:] for r in readers)

    def _output(self, node, producers):
        """The blob to write: the input's own where an activation may overwrite it."""
        source = node.inputs[0] if node.inputs else None
        forgotten = source in producers and producers[source].op in _FORGETS_OUTPUT and self._used[source] == 1
        return self._blobs[source] if node.op in _OVERWRITES and forgotten else self._prefix + node.name


def _pads(padding):
    top, bottom, left, right = padding
    return {"pad_t": top, "pad_b": bottom, "pad_l": left, "pad_r": right}


def _window(node, kernel):
    """Kernel, stride and padding; `training_mode` makes the accelerated operators keep what gradients need."""
    stride_h, stride_w = node.attributes["strides"]
    window = {"kernel_h": kernel[0], "kernel_w": kernel[1], "stride_h": stride_h, "stride_w": stride_w}
    return dict(window, order="NCHW", training_mode=1, **_pads(node.attributes["padding"]))


def _convolution(site):
    kernel, groups = site.shapes[site.node.inputs[1]][2:], site.node.attributes["groups"]
    window = _window(site.node, kernel)
    if groups > 1 and groups == site.shapes[site.node.inputs[0]][1]:
        window.update(_pads(_reached_padding(site)))
    site.net.Conv(site.inputs, site.out, group=groups, **window)


def _reached_padding(site):
    """Without padding on the far sides that no window reaches: with it, IDEEP's gradient of a depthwise kernel with
    strides is wrong. Where that makes the two sides uneven, IDEEP is not used; see devices."""
    found = []
    for axis, after in zip(axes_of(site.node, site.shapes), site.node.attributes["padding"][1::2]):
        last = (axis.count - 1) * axis.stride + axis.kernel - axis.near
        found += [axis.near, min(after, max(last - axis.size, 0))]
    return found


def _transposed_convolution(site):
    kernel, groups = site.shapes[site.node.inputs[1]][2:], site.node.attributes["groups"]
    site.net.ConvTranspose(site.inputs, site.out, group=groups, **_window(site.node, kernel))


def _linear(site):
    if len(site.inputs) == 3:
        site.net.FC(site.inputs, site.out)
    else:
        site.net.MatMul(site.inputs, site.out, trans_b=1)


def _pool(operator):
    def rule(site):
        window = _window(site.node, site.node.attributes["kernel"])
        getattr(site.net, operator)(site.inputs, site.out, **window)

    return rule


def _global_mean_pool(site):
    """With a kernel of the image's size: IDEEP has no gradient of its global pool."""
    height, width = site.shapes[site.node.inputs[0]][2:]
    window = {"kernel_h": height, "kernel_w": width, "order": "NCHW", "training_mode": 1}
    pooled = site.net.AveragePool(site.inputs, site.out + "/pooled", **window)
    site.net.Flatten(pooled, site.out)


def _batch_norm(site):
    """The operator's momentum is the share that is kept; it takes images, so a matrix becomes images of one pixel."""
    attributes = site.node.attributes
    settings = {"epsilon": attributes["epsilon"], "momentum": 1.0 - attributes["momentum"], "order": "NCHW"}
    flat = len(site.node.shape) == 2
    x, scale, shift, mean, variance = site.inputs
    out = site.out + "/images" if flat else site.out
    if flat:
        x = site.net.ExpandDims(x, site.out + "/expanded", dims=[2, 3])
    outputs = [out, mean, variance, site.out + "/mean", site.out + "/deviation"]
    site.net.SpatialBN([x, scale, shift, mean, variance], outputs, is_test=0, **settings)
    if flat:
        site.net.Squeeze(out, site.out, dims=[2, 3])


def _local_response_norm(site):
    size, alpha, beta, k = (site.node.attributes[key] for key in ("size", "alpha", "beta", "k"))
    outputs = [site.out, site.out + "/divisor"]
    site.net.LRN(site.inputs, outputs, size=size, alpha=alpha, beta=beta, bias=k, order="NCHW")


def _dropout(site):
    site.net.Dropout(site.inputs, [site.out, site.out + "/mask"], ratio=site.node.attributes["rate"], is_test=0)


def _softmax_cross_entropy(site):
    site.net.SoftmaxWithLoss(site.inputs, [site.out + "/softmax", site.out])


def _mean_squared_error(site):
    difference = site.net.Sub(site.inputs, site.out + "/difference")
    site.net.AveragedLoss(site.net.Sqr(difference, site.out + "/squares"), site.out)


def _binary_cross_entropy(site):
    """The operator has no gradient to the target; where one is wanted, a term of value 0 adds it."""
    logits, target = site.inputs
    net, out = site.net, site.out
    learnt = site.node.inputs[1] in site.learnt
    rows = net.SigmoidCrossEntropyWithLogits([logits, target], out + "/rows")
    loss = net.AveragedLoss(rows, out + "/logits" if learnt else out)
    if learnt:
        fixed_logits = net.StopGradient(logits, out + "/fixed_logits")
        fixed_target = net.StopGradient(target, out + "/fixed_target")
        nothing = net.Sub([fixed_target, target], out + "/nothing")
        term = net.AveragedLoss(net.Mul([nothing, fixed_logits], out + "/terms"), out + "/term")
        net.Sum([loss, term], out)


def _gaussian_kl(site):
    """0.5 / N * sum of (exp(v) + m² - v - 1); with Add, because Sum would share one gradient, see arrays.py."""
    mean, log_variance = site.inputs
    net, out = site.net, site.out
    grown = net.Add([net.Exp(log_variance, out + "/variance"), net.Sqr(mean, out + "/squares")], out + "/grown")
    excess = net.Sub([net.Sub([grown, log_variance], out + "/shrunk"), ONE], out + "/excess")
    total = net.SumElements(excess, out + "/total")
    net.Scale(total, out, scale=0.5 / site.shapes[site.node.inputs[0]][0])


def _bernoulli(site):
    drawn = site.net.UniformFill(site.inputs, site.out + "/drawn", min=0.0, max=1.0)
    below = site.net.LT([drawn, site.inputs[0]], site.out + "/below")
    number = site.net.Cast(below, site.out + "/number", to=caffe2_pb2.TensorProto.FLOAT)
    site.net.StopGradient(number, site.out)


def _normal(site):
    site.net.GaussianFill([], site.out, shape=list(site.node.attributes["shape"]), mean=0.0, std=1.0)


RULES = {
    **ARRAYS,
    "convolution": _convolution,
    "transposed_convolution": _transposed_convolution,
    "linear": _linear,
    "max_pool": _pool("MaxPool"),
    "mean_pool": _pool("AveragePool"),
    "global_mean_pool": _global_mean_pool,
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "relu": plain("Relu"),
    "tanh": plain("Tanh"),
    "sigmoid": plain("Sigmoid"),
    "dropout": _dropout,
    "flatten": plain("Flatten"),
    "scale": lambda site: site.net.Scale(site.inputs, site.out, scale=float(site.node.attributes["factor"])),
    "power": lambda site: site.net.Pow(site.inputs, site.out, exponent=float(site.node.attributes["exponent"])),
    "softmax_cross_entropy": _softmax_cross_entropy,
    "mean_squared_error": _mean_squared_error,
    "binary_cross_entropy": _binary_cross_entropy,
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": plain("StopGradient"),
    "bernoulli": _bernoulli,
    "normal": _normal,
}

FUSED = {"local_response_norm", "global_mean_pool"}
