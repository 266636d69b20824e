"""Which tiny programs show that an adapter computes what the graph means: CASES = {case name: wire form}.

PRIMITIVES are those that the oracle trains as they are, COMPOSITES those that it is given lowered.

A case is named "op/what is special about it"; "network/..." cases put several ops together. In an op's case the
value under test is the output `y`, and it ends in a scalar `loss` that depends on every element of it differently.
No case draws at random while training, so every adapter must agree with the reference on all of them.
"""

from array_programs import ARRAYS
from composite_programs import COMPOSITES
from one_op import SIDE, case, finish, loss, plain
from sketch import ADAM, MOMENTUM, SGD, Sketch
from small_networks import adversarial, residual, tied, variational

from netdyno_worker.contract import Job
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.feed.weights import Weights
from netdyno_worker.program import read_program


def start(adapter, wire, **changes):
    """A trainer of `adapter` for a wire form, fed with its synthetic batch; `changes` replace fields of its Job."""
    job = job_for(wire)._replace(**changes)
    trainer = adapter.build(job)
    trainer.feed(synthetic_batch(job.program, job.seed))
    return trainer


def job_for(wire):
    program = read_program(wire)
    return Job(program, "cpu", "float32", "eager", 1, Weights(program, 7).initial, 7)


def _convolution(weight, shape, x=SIDE, bias=True, **attributes):
    spread = (3.0 / (weight[1] * weight[2] * weight[3])) ** 0.5
    operands = [("x", x), ("weight", weight, -spread, spread)] + [("bias", weight[:1])] * bias
    attributes = dict({"strides": [1, 1], "padding": [0, 0, 0, 0], "groups": 1}, **attributes)
    return case("convolution", operands, shape, **attributes)


def _pool(op, shape, kernel, strides, padding):
    return case(op, [("x", SIDE)], shape, kernel=kernel, strides=strides, padding=padding)


def _batch_norm(shape):
    sketch = Sketch()
    names = [sketch.parameter("x", shape, -1.0, 3.0), *sketch.state("norm", shape[1])]
    sketch.node("y", "batch_norm", names, shape, epsilon=1e-3, momentum=0.1)
    return finish(sketch, shape)


def _pools_around_norm():
    """Overlapping windows put a value in several places, and a batch norm leaves these equal."""
    sketch = Sketch()
    window = {"kernel": [3, 3], "strides": [1, 1], "padding": [1, 1, 1, 1]}
    sketch.parameter("x", SIDE)
    sketch.node("pooled", "max_pool", ["x"], SIDE, **window)
    sketch.node("norm", "batch_norm", ["pooled", *sketch.state("norm", 4)], SIDE, epsilon=1e-3, momentum=0.1)
    sketch.node("y", "max_pool", ["norm"], SIDE, **window)
    return finish(sketch, SIDE)


def _one_value_twice(op):
    sketch = Sketch()
    sketch.parameter("x", [3, 4])
    sketch.node("y", op, ["x", "x"], [3, 4])
    return finish(sketch, [3, 4])


def _with_stopped():
    """y = x * stop_gradient(x): the gradient is half of what it would be."""
    sketch = Sketch()
    sketch.parameter("x", [3, 4])
    sketch.node("stopped", "stop_gradient", ["x"], [3, 4])
    sketch.node("y", "multiply", ["x", "stopped"], [3, 4])
    return finish(sketch, [3, 4])


def _certain(probability):
    """A draw whose outcome is known, times a parameter, plus that parameter."""
    sketch = Sketch()
    sketch.parameter("x", [3, 4])
    sketch.input("probability", [3, 4], probability, probability)
    sketch.node("drawn", "bernoulli", ["probability"], [3, 4], seed=5)
    sketch.node("chosen", "multiply", ["x", "drawn"], [3, 4])
    sketch.node("y", "add", ["x", "chosen"], [3, 4])
    return finish(sketch, [3, 4])


def _decomposed_norm():
    """A local response normalisation as primitives: the band that sums channels is a weight that is not trained."""
    sketch = Sketch()
    sketch.parameter("x", SIDE)
    band = [sketch.parameter("band.weight", [4, 4, 1, 1], 0.05, 0.2, trainable=False)]
    band.append(sketch.parameter("offset", [4], 1.0, 1.0, trainable=False))
    sketch.node("squares", "multiply", ["x", "x"], SIDE)
    window = {"strides": [1, 1], "padding": [0, 0, 0, 0], "groups": 1}
    sketch.node("divisor", "convolution", ["squares", *band], SIDE, **window)
    sketch.node("factor", "power", ["divisor"], SIDE, exponent=-0.75)
    sketch.node("y", "multiply", ["x", "factor"], SIDE)
    return finish(sketch, SIDE)


def _compared_with_plain():
    """A loss of an image and a plain value of its shape."""
    wire = loss("mean_squared_error", ("x", SIDE), ("target", SIDE))
    wire["graph"]["parameters"][1]["kind"] = "plain"
    return wire


def _optimized(optimizer):
    sketch = Sketch()
    sketch.input("x", [4, 3])
    sketch.parameter("weight", [2, 3])
    sketch.parameter("bias", [2])
    sketch.node("y", "linear", ["x", "weight", "bias"], [4, 2])
    return finish(sketch, [4, 2], optimizer)


_MATRIX = [("x", [3, 4])]
_IMAGES = [("x", SIDE)]

PRIMITIVES = {
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
    "linear/bias": case("linear", [("x", [3, 4]), ("weight", [5, 4]), ("bias", [5])], [3, 5]),
    "linear/no_bias": case("linear", [("x", [3, 4]), ("weight", [5, 4])], [3, 5]),
    "max_pool/even": _pool("max_pool", [2, 4, 3, 2], [2, 2], [2, 2], [0, 0, 0, 0]),
    "max_pool/overlapping": _pool("max_pool", [2, 4, 3, 3], [3, 3], [2, 2], [1, 1, 1, 1]),
    "max_pool/extra_padding": _pool("max_pool", [2, 4, 3, 3], [2, 3], [2, 2], [0, 0, 0, 2]),
    "max_pool/asymmetric": _pool("max_pool", [2, 4, 3, 5], [3, 2], [2, 1], [0, 1, 1, 0]),
    "mean_pool/even": _pool("mean_pool", [2, 4, 3, 2], [2, 2], [2, 2], [0, 0, 0, 0]),
    "mean_pool/overlapping": _pool("mean_pool", [2, 4, 6, 5], [3, 3], [1, 1], [1, 1, 1, 1]),
    "mean_pool/asymmetric": _pool("mean_pool", [2, 4, 3, 5], [3, 2], [2, 1], [0, 1, 1, 0]),
    "batch_norm/images": _batch_norm([2, 4, 6, 5]),
    "batch_norm/matrix": _batch_norm([5, 3]),
    "batch_norm/four_plain_axes": plain(_batch_norm([2, 4, 6, 5])),
    "batch_norm/between_pools": _pools_around_norm(),
    "relu/images": case("relu", _IMAGES, SIDE),
    "tanh/plain": case("tanh", _MATRIX, [3, 4]),
    "sigmoid/plain": case("sigmoid", _MATRIX, [3, 4]),
    "dropout/rate_0": case("dropout", _MATRIX, [3, 4], rate=0.0, seed=3),
    "flatten/images": case("flatten", _IMAGES, [2, 120]),
    "flatten/four_plain_axes": plain(case("flatten", _IMAGES, [2, 120])),
    "add/images": case("add", [("a", SIDE), ("b", SIDE)], SIDE),
    "add/one_value_twice": _one_value_twice("add"),
    "multiply/plain": case("multiply", [("a", [3, 4]), ("b", [3, 4])], [3, 4]),
    "multiply/four_plain_axes": plain(case("multiply", [("a", SIDE), ("b", SIDE)], SIDE)),
    "multiply/one_value_twice": _one_value_twice("multiply"),
    "scale/negative": case("scale", _MATRIX, [3, 4], factor=-0.75),
    "power/negative": case("power", [("x", SIDE, 0.5, 2.0)], SIDE, exponent=-0.75),
    "power/positive": case("power", [("x", [3, 4], 0.5, 2.0)], [3, 4], exponent=1.5),
    "power/decomposed_norm": _decomposed_norm(),
    "concat/images": case("concat", [("a", SIDE), ("b", [2, 1, 6, 5]), ("c", [2, 3, 6, 5])], [2, 8, 6, 5]),
    "concat/matrix": case("concat", [("a", [3, 4]), ("b", [3, 2])], [3, 6]),
    "concat/three_axes": case("concat", [("a", [2, 3, 4]), ("b", [2, 1, 4])], [2, 4, 4]),
    "concat/four_plain_axes": plain(case("concat", [("a", SIDE), ("b", [2, 1, 6, 5])], [2, 5, 6, 5])),
    "softmax_cross_entropy/plain": loss(
        "softmax_cross_entropy", ("logits", [4, 5], -3.0, 3.0), ("labels", [4], 0, 5, "integers")
    ),
    "mean_squared_error/both_learnt": loss("mean_squared_error", ("x", SIDE), ("target", SIDE)),
    "mean_squared_error/image_and_plain": _compared_with_plain(),
    "binary_cross_entropy/both_learnt": loss(
        "binary_cross_entropy", ("logits", [3, 4], -30.0, 30.0), ("target", [3, 4], 0.0, 1.0)
    ),
    "gaussian_kl/plain": loss("gaussian_kl", ("mean", [3, 4]), ("log_variance", [3, 4])),
    "stop_gradient/half": _with_stopped(),
    "bernoulli/always": _certain(1.0),
    "bernoulli/never": _certain(0.0),
    "network/sgd": _optimized(SGD),
    "network/momentum": _optimized(MOMENTUM),
    "network/adam": _optimized(ADAM),
    "network/residual in primitives": residual(composite=False),
    "network/tied weights": tied(),
    "network/variational": variational(),
    "network/adversarial": adversarial(),
}
PRIMITIVES.update(ARRAYS)

CASES = dict(PRIMITIVES, **COMPOSITES)
