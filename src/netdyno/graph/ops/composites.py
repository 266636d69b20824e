"""Rows of the composite operations, each of which has a decomposition into primitives."""

from netdyno.graph import flops, kinds, shapes
from netdyno.graph.op import Attribute, Op
from netdyno.graph.ops.attributes import BOOLEAN, COUNT, GELU_FORM, ODD, POSITIVE

NORM = ("x", "scale", "shift")
LAYER = ("x", "input_weight", "hidden_weight", "input_bias", "hidden_bias")


def _activation(forward: int, backward: int, attributes: dict[str, Attribute] | None = None) -> Op:
    return Op(
        composite=True,
        inputs=("x",),
        attributes=attributes or {},
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(forward, backward),
        keeps=("x",),
    )


def _recurrent(gates: int) -> Op:
    return Op(
        composite=True,
        inputs=LAYER,
        shape=shapes.recurrent(gates),
        kind=kinds.sequence,
        weights=LAYER[1:],
        flops=flops.recurrent,
        keeps=("x", "output"),
    )


OPS: dict[str, Op] = {
    "silu": _activation(4, 6),
    "relu6": _activation(2, 1),
    "hard_swish": _activation(5, 6),
    "gelu": _activation(8, 12, {"form": GELU_FORM}),
    "global_mean_pool": Op(
        composite=True, inputs=("x",), shape=shapes.global_mean_pool, kind=kinds.pooled, flops=flops.per_element(1, 1)
    ),
    "local_response_norm": Op(
        composite=True,
        inputs=("x",),
        attributes={"size": ODD, "alpha": POSITIVE, "beta": POSITIVE, "k": POSITIVE},
        shape=shapes.local_response_norm,
        kind=kinds.image,
        flops=flops.local_response_norm,
        keeps=("x", "output"),
    ),
    "layer_norm": Op(
        composite=True,
        inputs=NORM,
        attributes={"epsilon": POSITIVE},
        shape=shapes.layer_norm,
        kind=kinds.of_rows,
        weights=NORM[1:],
        flops=flops.per_element(8, 14),
        keeps=("x",),
    ),
    "group_norm": Op(
        composite=True,
        inputs=NORM,
        attributes={"groups": COUNT, "epsilon": POSITIVE},
        shape=shapes.group_norm,
        kind=kinds.image,
        weights=NORM[1:],
        flops=flops.per_element(8, 14),
        keeps=("x",),
    ),
    "attention": Op(
        composite=True,
        inputs=("query", "key", "value"),
        attributes={"causal": BOOLEAN},
        shape=shapes.attention,
        kind=kinds.matrices,
        flops=flops.attention,
        keeps=("query", "key", "value", "output"),
    ),
    "rnn": _recurrent(1),
    "lstm": _recurrent(4),
    "gru": _recurrent(3),
}
