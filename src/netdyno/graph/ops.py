"""Which operations there are: one row each.

The worker's adapters name the same operations; a test holds the two vocabularies together.
"""

from typing import Any

from netdyno.graph import flops, kinds, shapes
from netdyno.graph.op import Attribute, Check, Op


def _is_int(value: Any, at_least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= at_least


def _ints(count: int, at_least: int) -> Check:
    return lambda value: (
        isinstance(value, (tuple, list)) and len(value) == count and all(_is_int(v, at_least) for v in value)
    )


def _number(holds: Check) -> Check:
    return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and holds(value)


_SEED = Attribute(meaning="a whole number", holds=lambda value: _is_int(value, 0))
_STRIDES = Attribute(meaning="two whole numbers over 0", holds=_ints(2, 1))
_PADDING = Attribute(meaning="four whole numbers (top, bottom, left, right)", holds=_ints(4, 0))
_GROUPS = Attribute(meaning="a whole number over 0", holds=lambda value: _is_int(value, 1))
_POSITIVE = Attribute(meaning="a number over 0", holds=_number(lambda value: value > 0))
_ANY_NUMBER = Attribute(meaning="a number", holds=_number(lambda value: value == value))
_RATE = Attribute(meaning="a number in [0, 1)", holds=_number(lambda value: 0 <= value < 1))
_FRACTION = Attribute(meaning="a number in (0, 1]", holds=_number(lambda value: 0 < value <= 1))
_ODD = Attribute(meaning="an odd whole number", holds=lambda value: _is_int(value, 1) and value % 2 == 1)
_KIND = Attribute(meaning=f"a kind among {kinds.KINDS}", holds=lambda value: value in kinds.KINDS)
_SHAPE = Attribute(
    meaning="a list of whole numbers over 0",
    holds=lambda value: isinstance(value, (tuple, list)) and all(_is_int(v, 1) for v in value),
)
_POOL = {"kernel": _STRIDES, "strides": _STRIDES, "padding": _PADDING}


OPS: dict[str, Op] = {
    "convolution": Op(
        inputs=("x", "weight", "bias?"),
        attributes={"strides": _STRIDES, "padding": _PADDING, "groups": _GROUPS},
        shape=shapes.convolution,
        kind=kinds.convolution,
        weights=("weight", "bias"),
        flops=flops.convolution,
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
        inputs=("x",), attributes=_POOL, shape=shapes.pool, kind=kinds.image, flops=flops.pool, keeps=("x", "output")
    ),
    "mean_pool": Op(inputs=("x",), attributes=_POOL, shape=shapes.pool, kind=kinds.image, flops=flops.pool),
    "global_mean_pool": Op(
        composite=True, inputs=("x",), shape=shapes.global_mean_pool, kind=kinds.pooled, flops=flops.per_element(1, 1)
    ),
    "batch_norm": Op(
        inputs=("x", "scale", "shift", "running_mean", "running_variance"),
        attributes={"epsilon": _POSITIVE, "momentum": _FRACTION},
        shape=shapes.batch_norm,
        kind=kinds.first,
        weights=("scale", "shift"),
        flops=flops.per_element(8, 14),
        keeps=("x",),
        state=("running_mean", "running_variance"),
    ),
    "local_response_norm": Op(
        composite=True,
        inputs=("x",),
        attributes={"size": _ODD, "alpha": _POSITIVE, "beta": _POSITIVE, "k": _POSITIVE},
        shape=shapes.local_response_norm,
        kind=kinds.image,
        flops=flops.local_response_norm,
        keeps=("x", "output"),
    ),
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
    "silu": Op(
        composite=True,
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(4, 6),
        keeps=("x",),
    ),
    "dropout": Op(
        inputs=("x",),
        attributes={"rate": _RATE, "seed": _SEED},
        random=True,
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(2, 1),
        mask_bytes=1,
    ),
    "flatten": Op(view=True, inputs=("x",), shape=shapes.flatten, kind=kinds.plain, flops=flops.free),
    "add": Op(inputs=("a", "b"), shape=shapes.same, kind=kinds.same, elementwise=True, flops=flops.per_element(1, 0)),
    "multiply": Op(
        inputs=("a", "b"),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 2),
        keeps=("a", "b"),
    ),
    "scale": Op(
        inputs=("x",),
        attributes={"factor": _ANY_NUMBER},
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 1),
    ),
    "power": Op(
        inputs=("x",),
        attributes={"exponent": _ANY_NUMBER},
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(10, 12),
        keeps=("x",),
    ),
    "concat": Op(inputs=("x*",), shape=shapes.concat, kind=kinds.same, flops=flops.free),
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
    "stop_gradient": Op(
        view=True,
        inputs=("x",),
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.free,
        blocks_gradient=True,
    ),
    "bernoulli": Op(
        inputs=("probability",),
        attributes={"seed": _SEED},
        random=True,
        shape=shapes.same,
        kind=kinds.same,
        elementwise=True,
        flops=flops.per_element(1, 0),
        blocks_gradient=True,
    ),
    "normal": Op(
        inputs=(),
        attributes={"seed": _SEED, "shape": _SHAPE, "kind": _KIND},
        random=True,
        shape=shapes.drawn,
        kind=kinds.stated,
        flops=flops.drawn,
        blocks_gradient=True,
    ),
}
