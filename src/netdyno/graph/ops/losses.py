"""Rows of the operations that give a scalar to minimise."""

from netdyno.graph import flops, kinds, shapes
from netdyno.graph.op import Op

OPS: dict[str, Op] = {
    "softmax_cross_entropy": Op(
        inputs=("logits", "labels"),
        shape=shapes.cross_entropy,
        kind=kinds.plain,
        integers=("labels",),
        loss=True,
        flops=flops.per_element(5, 2),
        keeps=("logits",),
    ),
    "mean_squared_error": Op(
        inputs=("x", "target"),
        shape=shapes.loss,
        kind=kinds.plain,
        loss=True,
        flops=flops.per_element(3, 2),
        keeps=("x", "target"),
    ),
    "binary_cross_entropy": Op(
        inputs=("logits", "target"),
        shape=shapes.loss,
        kind=kinds.plain,
        loss=True,
        flops=flops.per_element(6, 4),
        keeps=("logits", "target"),
    ),
    "gaussian_kl": Op(
        inputs=("mean", "log_variance"),
        shape=shapes.loss,
        kind=kinds.plain,
        loss=True,
        flops=flops.per_element(6, 4),
        keeps=("mean", "log_variance"),
    ),
}
