"""Rows of the operations that layers are made of: products, windows and norms."""

from netdyno.graph import flops, kinds, shapes
from netdyno.graph.op import Op
from netdyno.graph.ops.attributes import COUNT, FRACTION, PADDING, POOL, POSITIVE, STRIDES

OPS: dict[str, Op] = {
    "convolution": Op(
        inputs=("x", "weight", "bias?"),
        attributes={"strides": STRIDES, "padding": PADDING, "groups": COUNT},
        shape=shapes.convolution,
        kind=kinds.convolution,
        weights=("weight", "bias"),
        flops=flops.convolution,
        keeps=("x",),
    ),
    "transposed_convolution": Op(
        inputs=("x", "weight", "bias?"),
        attributes={"strides": STRIDES, "padding": PADDING, "groups": COUNT},
        shape=shapes.transposed_convolution,
        kind=kinds.convolution,
        weights=("weight", "bias"),
        flops=flops.transposed_convolution,
        keeps=("x",),
    ),
    "linear": Op(
        inputs=("x", "weight", "bias?"),
        shape=shapes.linear,
        kind=kinds.linear,
        weights=("weight", "bias"),
        flops=flops.linear,
        keeps=("x",),
    ),
    "max_pool": Op(
        inputs=("x",), attributes=POOL, shape=shapes.pool, kind=kinds.image, flops=flops.pool, keeps=("x", "output")
    ),
    "mean_pool": Op(inputs=("x",), attributes=POOL, shape=shapes.pool, kind=kinds.image, flops=flops.pool),
    "batch_norm": Op(
        inputs=("x", "scale", "shift", "running_mean", "running_variance"),
        attributes={"epsilon": POSITIVE, "momentum": FRACTION},
        shape=shapes.batch_norm,
        kind=kinds.first,
        weights=("scale", "shift"),
        flops=flops.per_element(8, 14),
        keeps=("x",),
        state=("running_mean", "running_variance"),
    ),
}
