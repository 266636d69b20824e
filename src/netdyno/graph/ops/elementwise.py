"""Rows of the operations that compute each element from those at its place."""

from netdyno.graph import flops, kinds, shapes
from netdyno.graph.op import Op
from netdyno.graph.ops.attributes import ANY_NUMBER

OPS: dict[str, Op] = {
    "relu": Op(
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 1),
        keeps=("output",),
    ),
    "tanh": Op(
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 3),
        keeps=("output",),
    ),
    "sigmoid": Op(
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(3, 3),
        keeps=("output",),
    ),
    "add": Op(
        inputs=("a", "b"), shape=shapes.broadcast, kind=kinds.broadcast, elementwise=True, flops=flops.broadcast(1, 0)
    ),
    "subtract": Op(
        inputs=("a", "b"), shape=shapes.broadcast, kind=kinds.broadcast, elementwise=True, flops=flops.broadcast(1, 1)
    ),
    "multiply": Op(
        inputs=("a", "b"),
        shape=shapes.broadcast,
        kind=kinds.broadcast,
        elementwise=True,
        flops=flops.broadcast(1, 2),
        keeps=("a", "b"),
    ),
    "divide": Op(
        inputs=("a", "b"),
        shape=shapes.broadcast,
        kind=kinds.broadcast,
        elementwise=True,
        flops=flops.broadcast(1, 3),
        keeps=("b", "output"),
    ),
    "scale": Op(
        inputs=("x",),
        attributes={"factor": ANY_NUMBER},
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 1),
    ),
    "power": Op(
        inputs=("x",),
        attributes={"exponent": ANY_NUMBER},
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(10, 12),
        keeps=("x",),
    ),
    "exp": Op(
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 1),
        keeps=("output",),
    ),
    "log": Op(
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 1),
        keeps=("x",),
    ),
    "rsqrt": Op(
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(2, 3),
        keeps=("output",),
    ),
    "erf": Op(
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 4),
        keeps=("x",),
    ),
    "softplus": Op(
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(3, 4),
        keeps=("x",),
    ),
    "clamp": Op(
        inputs=("x",),
        attributes={"low": ANY_NUMBER, "high": ANY_NUMBER},
        shape=shapes.clamped,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(2, 1),
        keeps=("x",),
    ),
    "stop_gradient": Op(
        view=True,
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.free,
        blocks_gradient=True,
    ),
}
