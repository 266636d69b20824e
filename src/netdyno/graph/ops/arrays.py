"""Rows of the operations that move, pick or gather elements along axes, and of products of matrices."""

from netdyno.graph import flops, kinds, shapes
from netdyno.graph.op import Op

OPS: dict[str, Op] = {
    "flatten": Op(view=True, inputs=("x",), shape=shapes.flatten, kind=kinds.plain, flops=flops.free),
    "concat": Op(inputs=("x*",), shape=shapes.concat, kind=kinds.same, flops=flops.free),
}
