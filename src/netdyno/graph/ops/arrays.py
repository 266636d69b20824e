"""Rows of the operations that move, pick or gather elements along axes, and of products of matrices."""

from netdyno.graph import flops, kinds, shapes
from netdyno.graph.op import Op
from netdyno.graph.ops.attributes import AXES, AXIS, BOOLEAN, COUNT, KIND, NEW_SHAPE, OTHER_AXIS

OPS: dict[str, Op] = {
    "flatten": Op(view=True, inputs=("x",), shape=shapes.flatten, kind=kinds.plain, flops=flops.free),
    "reshape": Op(
        view=True,
        inputs=("x",),
        attributes={"shape": NEW_SHAPE, "kind": KIND},
        shape=shapes.reshape,
        kind=kinds.stated,
        flops=flops.free,
        moves_batch=True,
        any_type=True,
    ),
    "transpose": Op(
        inputs=("x",),
        attributes={"axes": AXES, "kind": KIND},
        shape=shapes.transpose,
        kind=kinds.stated,
        flops=flops.free,
        moves_batch=True,
    ),
    "slice": Op(
        inputs=("x",),
        attributes={"axis": AXIS, "start": AXIS, "stop": AXIS},
        shape=shapes.sliced,
        kind=kinds.same,
        flops=flops.free,
        picks=True,
        moves_batch=True,
        any_type=True,
    ),
    "concat": Op(
        inputs=("x*",), attributes={"axis": OTHER_AXIS}, shape=shapes.concat, kind=kinds.same, flops=flops.free
    ),
    "reduce_sum": Op(
        inputs=("x",),
        attributes={"axes": AXES, "keep": BOOLEAN},
        shape=shapes.reduced,
        kind=kinds.reduced,
        flops=flops.per_element(1, 0),
        moves_batch=True,
    ),
    "reduce_mean": Op(
        inputs=("x",),
        attributes={"axes": AXES, "keep": BOOLEAN},
        shape=shapes.reduced,
        kind=kinds.reduced,
        flops=flops.per_element(1, 1),
        moves_batch=True,
    ),
    "reduce_max": Op(
        inputs=("x",),
        attributes={"axes": AXES, "keep": BOOLEAN},
        shape=shapes.reduced,
        kind=kinds.reduced,
        flops=flops.per_element(1, 1),
        keeps=("x", "output"),
        moves_batch=True,
    ),
    "softmax": Op(
        inputs=("x",),
        attributes={"axis": AXIS},
        shape=shapes.along_axis,
        kind=kinds.same,
        flops=flops.per_element(5, 4),
        keeps=("output",),
    ),
    "matmul": Op(inputs=("a", "b"), shape=shapes.matmul, kind=kinds.matrices, flops=flops.matmul, keeps=("a", "b")),
    "gather": Op(
        inputs=("table", "indices"),
        shape=shapes.gather,
        kind=kinds.gathered,
        weights=("table",),
        integers=("indices",),
        flops=flops.gather,
        keeps=("indices",),
        picks=True,
    ),
    "one_hot": Op(
        inputs=("indices",),
        attributes={"classes": COUNT},
        shape=shapes.one_hot,
        kind=kinds.matrices,
        integers=("indices",),
        flops=flops.free,
        blocks_gradient=True,
    ),
}
