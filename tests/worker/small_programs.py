"""Which tiny programs show that an adapter computes what the graph means: CASES = {case name: wire form}.

A case is named "op/what is special about it"; "network/..." cases put several ops together. In an op's case the
value under test is the output `y`, and it ends in a scalar `loss` that depends on every element of it differently.
No case draws at random while training, so every adapter must agree with the reference on all of them.
"""

from netdyno_worker.batches import synthetic_batch
from netdyno_worker.contract import Job
from netdyno_worker.program import read_program
from netdyno_worker.weights import Weights

SGD = {"kind": "sgd", "learning_rate": 0.1}
MOMENTUM = {"kind": "momentum", "learning_rate": 0.05, "momentum": 0.9}
ADAM = {"kind": "adam", "learning_rate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
SIDE = (2, 4, 6, 5)  # images that are not square: two of four channels


def start(adapter, wire, **changes):
    """A trainer of `adapter` for a wire form, fed with its synthetic batch; `changes` replace fields of its Job."""
    job = job_for(wire)._replace(**changes)
    trainer = adapter.build(job)
    trainer.feed(synthetic_batch(job.program, job.seed))
    return trainer


def job_for(wire):
    program = read_program(wire)
    return Job(program, "cpu", "float32", "eager", 1, Weights(program, 7).initial, 7)


class Sketch(object):
    """Collects a graph piece by piece; every method that adds a value returns its name."""

    def __init__(self):
        self.graph = {"inputs": [], "parameters": [], "nodes": [], "outputs": []}
        self.updates = []

    def input(self, name, shape, low=-1.0, high=1.0, kind="uniform"):
        draw = {"kind": kind, "low": low, "high": high}
        self.graph["inputs"].append({"name": name, "shape": list(shape), "draw": draw})
        return name

    def parameter(self, name, shape, low=-1.0, high=1.0, trainable=True):
        draw = {"kind": "uniform", "low": low, "high": high}
        self.graph["parameters"].append({"name": name, "shape": list(shape), "initial": draw, "trainable": trainable})
        return name

    def node(self, name, op, inputs, result, **attributes):
        self.graph["nodes"].append(
            {"name": name, "op": op, "inputs": list(inputs), "shape": list(result), "attributes": attributes}
        )
        return name

    def state(self, name, channels):
        """The four vectors of a batch norm."""
        return [
            self.parameter(name + ".scale", [channels], 0.5, 1.5),
            self.parameter(name + ".shift", [channels], -0.5, 0.5),
            self.parameter(name + ".running_mean", [channels], 0.0, 0.0, trainable=False),
            self.parameter(name + ".running_variance", [channels], 1.0, 1.0, trainable=False),
        ]

    def update(self, loss, optimizer, parameters=None, name="train"):
        """Without `parameters`: every trainable one."""
        trainable = [p["name"] for p in self.graph["parameters"] if p["trainable"]]
        whole = dict({"momentum": 0.9, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}, **optimizer)
        self.updates.append({"name": name, "loss": loss, "parameters": parameters or trainable, "optimizer": whole})

    def wire(self, *outputs):
        return {"format": 1, "graph": dict(self.graph, outputs=list(outputs)), "updates": self.updates}


def _case(op, operands, shape, **attributes):
    """`operands` are (role, shape[, low, high]); each becomes a parameter, so that its gradient is tested."""
    sketch = Sketch()
    names = [sketch.parameter(*operand) for operand in operands]
    sketch.node("y", op, names, shape, **attributes)
    return _finish(sketch, shape)


def _finish(sketch, shape, optimizer=MOMENTUM):
    """Turn `y` into a loss in which every element has its own weight and its own target."""
    sketch.input("weighting", shape, 0.5, 1.5)
    sketch.input("target", shape)
    sketch.node("weighted", "multiply", ["y", "weighting"], shape)
    sketch.node("loss", "mean_squared_error", ["weighted", "target"], [])
    sketch.update("loss", optimizer)
    return sketch.wire("y")


def _loss(op, first, second):
    sketch = Sketch()
    names = [sketch.parameter(*first)]
    names.append(sketch.parameter(*second) if len(second) < 5 else sketch.input(*second))
    sketch.node("loss", op, names, [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("loss")


def _convolution(weight, shape, x=SIDE, bias=True, **attributes):
    spread = (3.0 / (weight[1] * weight[2] * weight[3])) ** 0.5
    operands = [("x", x), ("weight", weight, -spread, spread)] + [("bias", weight[:1])] * bias
    attributes = dict({"strides": [1, 1], "padding": [0, 0, 0, 0], "groups": 1}, **attributes)
    return _case("convolution", operands, shape, **attributes)


def _pool(op, shape, kernel, strides, padding):
    return _case(op, [("x", SIDE)], shape, kernel=kernel, strides=strides, padding=padding)


def _batch_norm(shape):
    sketch = Sketch()
    names = [sketch.parameter("x", shape, -1.0, 3.0), *sketch.state("norm", shape[1])]
    sketch.node("y", "batch_norm", names, shape, epsilon=1e-3, momentum=0.1)
    return _finish(sketch, shape)


def _one_value_twice(op):
    sketch = Sketch()
    sketch.parameter("x", [3, 4])
    sketch.node("y", op, ["x", "x"], [3, 4])
    return _finish(sketch, [3, 4])


def _with_stopped():
    """y = x * stop_gradient(x): the gradient is half of what it would be."""
    sketch = Sketch()
    sketch.parameter("x", [3, 4])
    sketch.node("stopped", "stop_gradient", ["x"], [3, 4])
    sketch.node("y", "multiply", ["x", "stopped"], [3, 4])
    return _finish(sketch, [3, 4])


def _certain(probability):
    """A draw whose outcome is known, times a parameter, plus that parameter."""
    sketch = Sketch()
    sketch.parameter("x", [3, 4])
    sketch.input("probability", [3, 4], probability, probability)
    sketch.node("drawn", "bernoulli", ["probability"], [3, 4], seed=5)
    sketch.node("chosen", "multiply", ["x", "drawn"], [3, 4])
    sketch.node("y", "add", ["x", "chosen"], [3, 4])
    return _finish(sketch, [3, 4])


def _optimized(optimizer):
    sketch = Sketch()
    sketch.input("x", [4, 3])
    sketch.parameter("weight", [2, 3])
    sketch.parameter("bias", [2])
    sketch.node("y", "linear", ["x", "weight", "bias"], [4, 2])
    return _finish(sketch, [4, 2], optimizer)


def _residual():
    """A classifier with a shortcut, batch norm and every kind of pool."""
    sketch = Sketch()
    edge = {"strides": [1, 1], "padding": [1, 1, 1, 1], "groups": 1}
    sketch.input("image", [4, 3, 8, 8])
    sketch.input("labels", [4], 0, 5, "integers")
    stem = [sketch.parameter("stem.weight", [6, 3, 3, 3], -0.3, 0.3), sketch.parameter("stem.bias", [6])]
    branch = sketch.parameter("branch.weight", [6, 6, 3, 3], -0.2, 0.2)
    head = [sketch.parameter("head.weight", [5, 12]), sketch.parameter("head.bias", [5])]
    sketch.node("stem", "convolution", ["image", *stem], [4, 6, 8, 8], **edge)
    sketch.node("stem.relu", "relu", ["stem"], [4, 6, 8, 8])
    window = {"kernel": [3, 3], "strides": [2, 2], "padding": [0, 1, 0, 1]}
    sketch.node("pooled", "max_pool", ["stem.relu"], [4, 6, 4, 4], **window)
    sketch.node("branch", "convolution", ["pooled", branch], [4, 6, 4, 4], **edge)
    norm = ["branch", *sketch.state("branch.norm", 6)]
    sketch.node("branch.norm", "batch_norm", norm, [4, 6, 4, 4], epsilon=1e-5, momentum=0.1)
    sketch.node("sum", "add", ["branch.norm", "pooled"], [4, 6, 4, 4])
    sketch.node("smooth", "mean_pool", ["sum"], [4, 6, 2, 2], **window)
    sketch.node("beside", "global_mean_pool", ["smooth"], [4, 6])
    sketch.node("deep", "global_mean_pool", ["sum"], [4, 6])
    sketch.node("both", "concat", ["beside", "deep"], [4, 12])
    sketch.node("kept", "dropout", ["both"], [4, 12], rate=0.0, seed=1)
    sketch.node("y", "linear", ["kept", *head], [4, 5])
    sketch.node("loss", "softmax_cross_entropy", ["y", "labels"], [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("y", "loss")


def _repeated_pools():
    """Windows over the very same pixels: all values of a map are equal, and each gradient must still count once."""
    sketch = Sketch()
    edge = {"strides": [1, 1], "padding": [1, 1, 1, 1], "groups": 1}
    whole = {"kernel": [3, 3], "strides": [1, 1], "padding": [1, 1, 1, 1]}
    sketch.input("image", [4, 3, 4, 4])
    sketch.input("labels", [4], 0, 5, "integers")
    stem = [sketch.parameter("stem.weight", [6, 3, 3, 3], -0.3, 0.3), sketch.parameter("stem.bias", [6])]
    mixed = [sketch.parameter("mixed.weight", [5, 6, 1, 1]), sketch.parameter("mixed.bias", [5])]
    last = sketch.parameter("last.weight", [5, 5, 3, 3], -0.3, 0.3)
    sketch.node("stem", "convolution", ["image", *stem], [4, 6, 4, 4], **edge)
    sketch.node("stem.relu", "relu", ["stem"], [4, 6, 4, 4])
    small = {"kernel": [3, 3], "strides": [2, 2], "padding": [0, 1, 0, 1]}
    sketch.node("pooled", "max_pool", ["stem.relu"], [4, 6, 2, 2], **small)
    sketch.node("repeated", "max_pool", ["pooled"], [4, 6, 2, 2], **whole)
    sketch.node("mixed", "convolution", ["repeated", *mixed], [4, 5, 2, 2], **dict(edge, padding=[0, 0, 0, 0]))
    sketch.node("mixed.relu", "relu", ["mixed"], [4, 5, 2, 2])
    sketch.node("again", "max_pool", ["mixed.relu"], [4, 5, 2, 2], **whole)
    sketch.node("last", "convolution", ["again", last], [4, 5, 2, 2], **edge)
    sketch.node("y", "global_mean_pool", ["last"], [4, 5])
    sketch.node("loss", "softmax_cross_entropy", ["y", "labels"], [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("y", "loss")


def _variational():
    """Two losses in one, scaled and added; the noise is fed so that nothing is drawn."""
    sketch = Sketch()
    sketch.input("x", [4, 6], 0.0, 1.0)
    sketch.input("noise", [4, 2], kind="normal")
    for name, shape in (("mean", [2, 6]), ("spread", [2, 6]), ("decoder", [6, 2])):
        sketch.parameter(name + ".weight", shape)
    sketch.node("mean", "linear", ["x", "mean.weight"], [4, 2])
    sketch.node("spread", "linear", ["x", "spread.weight"], [4, 2])
    sketch.node("width", "sigmoid", ["spread"], [4, 2])
    sketch.node("moved", "multiply", ["width", "noise"], [4, 2])
    sketch.node("code", "add", ["mean", "moved"], [4, 2])
    sketch.node("y", "linear", ["code", "decoder.weight"], [4, 6])
    sketch.node("rebuilt", "binary_cross_entropy", ["y", "x"], [])
    sketch.node("divergence", "gaussian_kl", ["mean", "spread"], [])
    sketch.node("weighed", "scale", ["divergence"], [], factor=0.25)
    sketch.node("loss", "add", ["rebuilt", "weighed"], [])
    sketch.update("loss", ADAM)
    return sketch.wire("y", "loss")


def _adversarial():
    """Two updates over two groups; the judge is applied to real and made values with one set of weights."""
    sketch = Sketch()
    sketch.input("real", [4, 3])
    sketch.input("seeds", [4, 2], kind="normal")
    sketch.input("ones", [4, 1], 1.0, 1.0)
    sketch.input("zeros", [4, 1], 0.0, 0.0)
    sketch.parameter("maker.weight", [3, 2])
    sketch.parameter("judge.weight", [1, 3])
    sketch.parameter("judge.bias", [1])
    judge = ["judge.weight", "judge.bias"]
    sketch.node("made.linear", "linear", ["seeds", "maker.weight"], [4, 3])
    sketch.node("made", "tanh", ["made.linear"], [4, 3])
    sketch.node("fixed", "stop_gradient", ["made"], [4, 3])
    sketch.node("of.real", "linear", ["real", *judge], [4, 1])
    sketch.node("of.fixed", "linear", ["fixed", *judge], [4, 1])
    sketch.node("of.made", "linear", ["made", *judge], [4, 1])
    sketch.node("real.loss", "binary_cross_entropy", ["of.real", "ones"], [])
    sketch.node("fixed.loss", "binary_cross_entropy", ["of.fixed", "zeros"], [])
    sketch.node("judge.loss", "add", ["real.loss", "fixed.loss"], [])
    sketch.node("maker.loss", "binary_cross_entropy", ["of.made", "ones"], [])
    sketch.update("judge.loss", MOMENTUM, judge, name="judge")
    sketch.update("maker.loss", ADAM, ["maker.weight"], name="maker")
    return sketch.wire("made", "judge.loss", "maker.loss")


_MATRIX = [("x", [3, 4])]
_IMAGES = [("x", SIDE)]

CASES = {
    "convolution/padded": _convolution([3, 4, 3, 3], [2, 3, 6, 5], padding=[1, 1, 1, 1]),
    "convolution/asymmetric": _convolution(
        [3, 4, 3, 2], [2, 3, 4, 7], bias=False, strides=[2, 1], padding=[0, 3, 2, 1]
    ),
    "convolution/left_over": _convolution([3, 4, 3, 3], [2, 3, 2, 2], strides=[2, 2], x=(2, 4, 6, 6)),
    "convolution/groups": _convolution([6, 2, 3, 3], [2, 6, 6, 5], groups=2, padding=[1, 1, 1, 1]),
    "convolution/depthwise": _convolution(
        [4, 1, 3, 3], [2, 4, 3, 3], groups=4, bias=False, strides=[2, 2], padding=[1, 1, 1, 1]
    ),
    "convolution/pointwise": _convolution([5, 4, 1, 1], [2, 5, 6, 5]),
    "convolution/pointwise_strided": _convolution([5, 4, 1, 1], [2, 5, 3, 3], bias=False, strides=[2, 2]),
    "convolution/pointwise_padded": _convolution([5, 4, 1, 1], [2, 5, 7, 7], padding=[1, 0, 0, 2]),
    "linear/bias": _case("linear", [("x", [3, 4]), ("weight", [5, 4]), ("bias", [5])], [3, 5]),
    "linear/no_bias": _case("linear", [("x", [3, 4]), ("weight", [5, 4])], [3, 5]),
    "max_pool/even": _pool("max_pool", [2, 4, 3, 2], [2, 2], [2, 2], [0, 0, 0, 0]),
    "max_pool/overlapping": _pool("max_pool", [2, 4, 3, 3], [3, 3], [2, 2], [1, 1, 1, 1]),
    "max_pool/extra_padding": _pool("max_pool", [2, 4, 3, 3], [2, 3], [2, 2], [0, 0, 0, 2]),
    "max_pool/asymmetric": _pool("max_pool", [2, 4, 3, 5], [3, 2], [2, 1], [0, 1, 1, 0]),
    "mean_pool/even": _pool("mean_pool", [2, 4, 3, 2], [2, 2], [2, 2], [0, 0, 0, 0]),
    "mean_pool/overlapping": _pool("mean_pool", [2, 4, 6, 5], [3, 3], [1, 1], [1, 1, 1, 1]),
    "mean_pool/asymmetric": _pool("mean_pool", [2, 4, 3, 5], [3, 2], [2, 1], [0, 1, 1, 0]),
    "global_mean_pool/plain": _case("global_mean_pool", _IMAGES, [2, 4]),
    "batch_norm/images": _batch_norm([2, 4, 6, 5]),
    "batch_norm/matrix": _batch_norm([5, 3]),
    "local_response_norm/narrow": _case("local_response_norm", _IMAGES, SIDE, size=3, alpha=0.5, beta=0.75, k=2.0),
    "local_response_norm/wider_than_channels": _case(
        "local_response_norm", _IMAGES, SIDE, size=9, alpha=1.0, beta=0.5, k=1.0
    ),
    "relu/images": _case("relu", _IMAGES, SIDE),
    "tanh/plain": _case("tanh", _MATRIX, [3, 4]),
    "sigmoid/plain": _case("sigmoid", _MATRIX, [3, 4]),
    "dropout/rate_0": _case("dropout", _MATRIX, [3, 4], rate=0.0, seed=3),
    "flatten/images": _case("flatten", _IMAGES, [2, 120]),
    "add/images": _case("add", [("a", SIDE), ("b", SIDE)], SIDE),
    "add/one_value_twice": _one_value_twice("add"),
    "multiply/plain": _case("multiply", [("a", [3, 4]), ("b", [3, 4])], [3, 4]),
    "multiply/one_value_twice": _one_value_twice("multiply"),
    "scale/negative": _case("scale", _MATRIX, [3, 4], factor=-0.75),
    "concat/images": _case("concat", [("a", SIDE), ("b", [2, 1, 6, 5]), ("c", [2, 3, 6, 5])], [2, 8, 6, 5]),
    "concat/matrix": _case("concat", [("a", [3, 4]), ("b", [3, 2])], [3, 6]),
    "softmax_cross_entropy/plain": _loss(
        "softmax_cross_entropy", ("logits", [4, 5], -3.0, 3.0), ("labels", [4], 0, 5, "integers")
    ),
    "mean_squared_error/both_learnt": _loss("mean_squared_error", ("x", SIDE), ("target", SIDE)),
    "binary_cross_entropy/both_learnt": _loss(
        "binary_cross_entropy", ("logits", [3, 4], -30.0, 30.0), ("target", [3, 4], 0.0, 1.0)
    ),
    "gaussian_kl/plain": _loss("gaussian_kl", ("mean", [3, 4]), ("log_variance", [3, 4])),
    "stop_gradient/half": _with_stopped(),
    "bernoulli/always": _certain(1.0),
    "bernoulli/never": _certain(0.0),
    "network/sgd": _optimized(SGD),
    "network/momentum": _optimized(MOMENTUM),
    "network/adam": _optimized(ADAM),
    "network/residual": _residual(),
    "network/repeated pools": _repeated_pools(),
    "network/variational": _variational(),
    "network/adversarial": _adversarial(),
}
