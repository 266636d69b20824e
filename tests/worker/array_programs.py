"""Which small programs show ops along axes, on pairs of values and by lookup: ARRAYS = {case name: wire form}."""

from one_op import SIDE, case, finish, plain
from sketch import ADAM, MOMENTUM, Sketch


def _unary(op, shape=(3, 4), low=-1.0, high=1.0, **attributes):
    return case(op, [("x", shape, low, high)], shape, **attributes)


def _transposed(weight, shape, x=(2, 4, 3, 5), bias=True, **attributes):
    operands = [("x", x), ("weight", weight)]
    operands += [("bias", [shape[1]])] * bias
    attributes = dict({"strides": [1, 1], "padding": [0, 0, 0, 0], "groups": 1}, **attributes)
    return case("transposed_convolution", operands, shape, **attributes)


def _lookup(indices, classes, optimizer=MOMENTUM):
    sketch = Sketch()
    sketch.input("indices", indices, 0, classes, "integers")
    sketch.parameter("table", [classes, 3])
    shape = [*indices, 3]
    sketch.node("y", "gather", ["table", "indices"], shape)
    return finish(sketch, shape, optimizer)


def _marked(indices, classes):
    """A matrix times what marks the classes."""
    sketch = Sketch()
    sketch.input("indices", indices, 0, classes, "integers")
    sketch.parameter("b", [4, classes])
    shape = [*indices, classes]
    sketch.node("marks", "one_hot", ["indices"], shape, classes=classes)
    sketch.node("rows", "reshape", ["marks"], [6, classes], shape=[-1, classes], kind="plain")
    sketch.node("b_turned", "transpose", ["b"], [classes, 4], axes=[1, 0], kind="plain")
    sketch.node("y", "matmul", ["rows", "b_turned"], [6, 4])
    return finish(sketch, [6, 4])


def _attended():
    """A softmax over scores of which a causal mask takes the later columns."""
    sketch = Sketch()
    sketch.parameter("scores", [2, 3, 4])
    sketch.parameter("mask", [3, 4], -1e9, 0.0, trainable=False, draw="causal")
    sketch.node("masked", "add", ["scores", "mask"], [2, 3, 4])
    sketch.node("y", "softmax", ["masked"], [2, 3, 4], axis=2)
    return finish(sketch, [2, 3, 4])


def _around_convolution(op, moved, **attributes):
    """On an image that a convolution made, and before one: both may store it with channels last."""
    sketch, window = Sketch(), {"strides": [1, 1], "padding": [0, 0, 0, 0], "groups": 1}
    sketch.parameter("x", SIDE)
    sketch.parameter("weight", [3, 4, 1, 1])
    sketch.node("image", "convolution", ["x", "weight"], [2, 3, 6, 5], **window)
    sketch.node("moved", op, ["image"], moved, **attributes)
    sketch.parameter("after.weight", [2, moved[1], 1, 1])
    shape = [moved[0], 2, *moved[2:]]
    sketch.node("y", "convolution", ["moved", "after.weight"], shape, **window)
    return finish(sketch, shape)


def _sides(op, a, b, shape, low=-1.0, high=1.0):
    return case(op, [("a", a), ("b", b, low, high)], shape)


ARRAYS = {
    "transposed_convolution/plain": _transposed([4, 3, 2, 3], [2, 3, 4, 7]),
    "transposed_convolution/strided": _transposed(
        [4, 3, 3, 2], [2, 3, 5, 11], strides=[2, 3], padding=[1, 1, 2, 1], bias=False
    ),
    "transposed_convolution/doubled": _transposed([4, 2, 3, 3], [2, 2, 6, 10], strides=[2, 2], padding=[1, 0, 1, 0]),
    "transposed_convolution/groups": _transposed([4, 3, 3, 3], [2, 6, 4, 6], groups=2, padding=[1, 0, 0, 1]),
    "matmul/matrices": case("matmul", [("a", [3, 4]), ("b", [4, 5])], [3, 5]),
    "matmul/batched": case("matmul", [("a", [2, 3, 4]), ("b", [2, 4, 5])], [2, 3, 5]),
    "matmul/heads": plain(case("matmul", [("a", [2, 3, 5, 4]), ("b", [2, 3, 4, 2])], [2, 3, 5, 2])),
    "reshape/plain": case("reshape", [("x", [3, 4])], [2, 6], shape=[-1, 6], kind="plain"),
    "reshape/from_image": case("reshape", [("x", SIDE)], [2, 12, 10], shape=[2, -1, 10], kind="plain"),
    "reshape/to_image": case("reshape", [("x", [2, 30])], [2, 3, 5, 2], shape=[2, 3, 5, 2], kind="image"),
    "reshape/between_images": _around_convolution("reshape", [2, 5, 3, 6], shape=[-1, 5, 3, 6], kind="image"),
    "reshape/four_plain_axes": plain(
        case("reshape", [("x", SIDE)], [2, 2, 10, 6], shape=[2, 2, 10, 6], kind="plain")
    ),
    "transpose/matrix": case("transpose", [("x", [3, 4])], [4, 3], axes=[1, 0], kind="plain"),
    "transpose/three_axes": case("transpose", [("x", [2, 3, 4])], [4, 2, 3], axes=[2, 0, 1], kind="plain"),
    "transpose/images": _around_convolution("transpose", [2, 6, 5, 3], axes=[0, 2, 3, 1], kind="image"),
    "transpose/image_to_plain": case("transpose", [("x", SIDE)], [2, 6, 5, 4], axes=[0, 2, 3, 1], kind="plain"),
    "transpose/heads": plain(case("transpose", [("x", SIDE)], [2, 6, 4, 5], axes=[0, 2, 1, 3], kind="plain")),
    "slice/matrix": case("slice", [("x", [3, 7])], [3, 2], axis=1, start=4, stop=6),
    "slice/first_axis": case("slice", [("x", [4, 3, 2])], [1, 3, 2], axis=0, start=2, stop=3),
    "slice/channels": _around_convolution("slice", [2, 2, 6, 5], axis=1, start=1, stop=3),
    "slice/columns": _around_convolution("slice", [2, 3, 6, 3], axis=3, start=0, stop=3),
    "concat/rows_of_images": case("concat", [("a", SIDE), ("b", [2, 4, 1, 5])], [2, 4, 7, 5], axis=2),
    "concat/last_axis": case("concat", [("a", [2, 3, 4]), ("b", [2, 3, 1])], [2, 3, 5], axis=2),
    "concat/first_axis": case("concat", [("a", [2, 3]), ("b", [1, 3])], [3, 3], axis=0),
    "reduce_sum/last": case("reduce_sum", [("x", [3, 4])], [3], axes=[1], keep=False),
    "reduce_sum/kept": case("reduce_sum", [("x", [2, 3, 4])], [1, 3, 1], axes=[2, 0], keep=True),
    "reduce_sum/channels": case("reduce_sum", [("x", SIDE)], [2, 6, 5], axes=[1], keep=False),
    "reduce_mean/last": case("reduce_mean", [("x", [2, 3, 4])], [2, 3, 1], axes=[2], keep=True),
    "reduce_mean/image": case("reduce_mean", [("x", SIDE)], [2, 4], axes=[2, 3], keep=False),
    "reduce_mean/image_kept": _around_convolution("reduce_mean", [2, 3, 1, 5], axes=[2], keep=True),
    "reduce_max/last": case("reduce_max", [("x", [3, 4])], [3, 1], axes=[1], keep=True),
    "reduce_max/two_axes": case("reduce_max", [("x", [2, 3, 4])], [3], axes=[0, 2], keep=False),
    "reduce_max/images": case("reduce_max", [("x", SIDE)], [2, 5], axes=[2, 1], keep=False),
    "add/row": _sides("add", [3, 4], [4], [3, 4]),
    "add/both_repeated": _sides("add", [3, 1], [2, 1, 4], [2, 3, 4]),
    "add/channels": _sides("add", SIDE, [1, 4, 1, 1], SIDE),
    "multiply/column": _sides("multiply", [3, 1], [3, 4], [3, 4]),
    "multiply/scalar": _sides("multiply", [3, 4], [], [3, 4]),
    "multiply/maps": _sides("multiply", [2, 1, 6, 5], [1, 4, 1, 5], SIDE),
    "subtract/plain": _sides("subtract", [3, 4], [3, 4], [3, 4]),
    "subtract/repeated": _sides("subtract", [2, 3, 4], [2, 3, 1], [2, 3, 4]),
    "divide/plain": _sides("divide", [3, 4], [3, 4], [3, 4], 0.5, 2.0),
    "divide/repeated": _sides("divide", [4], [2, 3, 1], [2, 3, 4], 0.5, 2.0),
    "divide/images": _sides("divide", SIDE, [2, 4, 1, 1], SIDE, 0.5, 2.0),
    "exp/plain": _unary("exp", low=-3.0, high=2.0),
    "exp/images": _unary("exp", SIDE),
    "log/plain": _unary("log", low=0.2, high=3.0),
    "rsqrt/plain": _unary("rsqrt", low=0.2, high=3.0),
    "erf/plain": _unary("erf", low=-4.0, high=4.0),
    "erf/images": _unary("erf", SIDE, -2.0, 2.0),
    "softplus/plain": _unary("softplus", low=-5.0, high=5.0),
    "softplus/large": _unary("softplus", low=10.0, high=90.0),
    "softmax/last": _unary("softmax", low=-3.0, high=3.0, axis=1),
    "softmax/middle": _unary("softmax", (2, 3, 4), -20.0, 20.0, axis=1),
    "softmax/channels": _unary("softmax", SIDE, axis=1),
    "softmax/causal": _attended(),
    "clamp/plain": case("clamp", [("x", [5, 4])], [5, 4], low=-0.25, high=0.5),
    "clamp/images": case("clamp", [("x", SIDE)], SIDE, low=0.0, high=0.75),
    "gather/tokens": _lookup([2, 5], 4),
    "gather/rows": _lookup([3], 7),
    "gather/rows_of_several": _lookup([2, 5], 4, ADAM),
    "one_hot/tokens": _marked([2, 3], 5),
}
