"""Rows of the operations that draw at random."""

from netdyno.graph import flops, kinds, shapes
from netdyno.graph.op import Op
from netdyno.graph.ops.attributes import KIND, RATE, SEED, SHAPE

OPS: dict[str, Op] = {
    "dropout": Op(
        inputs=("x",),
        attributes={"rate": RATE, "seed": SEED},
        random=True,
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(2, 1),
        mask_bytes=1,
    ),
    "bernoulli": Op(
        inputs=("probability",),
        attributes={"seed": SEED},
        random=True,
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 0),
        blocks_gradient=True,
    ),
    "normal": Op(
        inputs=(),
        attributes={"seed": SEED, "shape": SHAPE, "kind": KIND},
        random=True,
        shape=shapes.drawn,
        kind=kinds.stated,
        flops=flops.drawn,
        blocks_gradient=True,
    ),
}
