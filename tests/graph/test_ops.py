"""Does every row of the op table give the right shape and the right cost?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from netdyno.graph.check import resolve_shape
from netdyno.graph.flops import Flops
from netdyno.graph.model import Shape
from netdyno.graph.ops import OPS

IMAGES = (2, 4, 6, 6)  # 288 elements
VECTORS = (2, 5)
WINDOW = {"kernel": (3, 2), "strides": (2, 2), "padding": (0, 1, 0, 0)}


@dataclass(frozen=True)
class Case:
    op: str
    inputs: tuple[Shape, ...]
    shape: Shape
    macs: int = 0
    forward: int = 0
    backward: int = 0
    to_input: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)


def _elementwise(op: str, inputs: tuple[Shape, ...], each: tuple[int, int], **attributes: Any) -> Case:
    """An op that keeps the shape of its first input and costs `each` per element, forward and back."""
    count = 288 if inputs[0] == IMAGES else 10
    forward, backward = each[0] * count, each[1] * count
    return Case(op, inputs, inputs[0], 0, forward, backward, backward, attributes)


def _convolution(weight: Shape, *bias: Shape, groups: int, **counts: int) -> Case:
    attributes = {"strides": (2, 1), "padding": (1, 0, 1, 2), "groups": groups}
    return Case("convolution", (IMAGES, weight, *bias), (2, 8, 3, 7), **counts, attributes=attributes)


def _recurrent(op: str, gates: int) -> Case:
    """Three sequences of four steps, five features, two hidden units."""
    width, each = 2 * gates, 12 * 2 * gates  # the gates of all steps
    weights: tuple[Shape, ...] = ((width, 5), (width, 2), (width,), (width,))
    counts = (each * 7, 14 * each + 6 * each, 28 * each + 8 * each, 2 * each * 5)
    return Case(op, ((3, 4, 5), *weights), (3, 4, 2), *counts)


# 8×3×7 outputs of each of two images: 336 elements.
CASES = [
    _convolution((8, 4, 3, 3), groups=1, macs=336 * 36, forward=672 * 36, backward=1344 * 36, to_input=672 * 36),
    _convolution(
        *((8, 2, 3, 3), (8,)),
        groups=2,
        macs=336 * 18,
        forward=672 * 18 + 336,
        backward=1344 * 18 + 336,
        to_input=672 * 18,
    ),
    Case(
        "transposed_convolution",
        (IMAGES, (4, 3, 2, 5), (6,)),
        (2, 6, 11, 18),
        288 * 30,
        576 * 30 + 2 * 6 * 11 * 18,
        1152 * 30 + 2 * 6 * 11 * 18,
        576 * 30,
        {"strides": (2, 3), "padding": (0, 1, 2, 0), "groups": 2},
    ),
    Case("matmul", ((2, 4, 3), (2, 3, 5)), (2, 4, 5), 120, 240, 480, 240),
    Case("linear", (VECTORS, (3, 5)), (2, 3), 30, 60, 120, 60),
    Case("linear", (VECTORS, (3, 5), (3,)), (2, 3), 30, 66, 126, 60),
    Case("max_pool", (IMAGES,), (2, 4, 3, 3), 0, 432, 432, 432, WINDOW),
    Case("mean_pool", (IMAGES,), (2, 4, 3, 3), 0, 432, 432, 432, WINDOW),
    Case("global_mean_pool", (IMAGES,), (2, 4), 0, 288, 288, 288),
    _elementwise("batch_norm", (IMAGES, *[(4,)] * 4), (8, 14), epsilon=1e-5, momentum=0.1),
    _elementwise("batch_norm", (VECTORS, *[(5,)] * 4), (8, 14), epsilon=1e-5, momentum=1.0),
    _elementwise("local_response_norm", (IMAGES,), (10, 20), size=5, alpha=1e-4, beta=0.75, k=2.0),
    _elementwise("relu", (IMAGES,), (1, 1)),
    _elementwise("tanh", (VECTORS,), (1, 3)),
    _elementwise("sigmoid", (VECTORS,), (3, 3)),
    _elementwise("silu", (IMAGES,), (4, 6)),
    _elementwise("relu6", (IMAGES,), (2, 1)),
    _elementwise("hard_swish", (VECTORS,), (5, 6)),
    _elementwise("gelu", (VECTORS,), (8, 12), form="tanh"),
    _elementwise("layer_norm", (VECTORS, (5,), (5,)), (8, 14), epsilon=1e-5),
    _elementwise("group_norm", (IMAGES, (4,), (4,)), (8, 14), epsilon=1e-5, groups=2),
    # 144 scores, each of two products; five operations more forward, four back.
    Case(
        "attention",
        ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 2)),
        (2, 3, 4, 2),
        144 * 7,
        2 * 144 * 7 + 5 * 144,
        4 * 144 * 7 + 4 * 144,
        2 * 144 * 5 + 4 * 144,
        {"causal": False},
    ),
    _recurrent("rnn", 1),
    _recurrent("lstm", 4),
    _recurrent("gru", 3),
    _elementwise("dropout", (VECTORS,), (2, 1), rate=0.5, seed=3),
    Case("flatten", (IMAGES,), (2, 144)),
    _elementwise("add", (IMAGES, IMAGES), (1, 0)),
    _elementwise("multiply", (VECTORS, VECTORS), (1, 2)),
    _elementwise("subtract", (VECTORS, VECTORS), (1, 1)),
    _elementwise("divide", (IMAGES, IMAGES), (1, 3)),
    # Repeated values get sums back: one addition per element.
    Case("add", (VECTORS, (5,)), VECTORS, 0, 10, 10, 0),
    Case("multiply", ((5,), VECTORS), VECTORS, 0, 10, 30, 30),
    Case("divide", ((2, 1), (1, 5)), VECTORS, 0, 10, 50, 40),
    _elementwise("exp", (VECTORS,), (1, 1)),
    _elementwise("log", (VECTORS,), (1, 1)),
    _elementwise("rsqrt", (VECTORS,), (2, 3)),
    _elementwise("erf", (VECTORS,), (1, 4)),
    _elementwise("softplus", (VECTORS,), (3, 4)),
    _elementwise("clamp", (VECTORS,), (2, 1), low=0.0, high=6.0),
    _elementwise("softmax", (VECTORS,), (5, 4), axis=1),
    _elementwise("scale", (VECTORS,), (1, 1), factor=-0.5),
    _elementwise("power", (VECTORS,), (10, 12), exponent=-0.75),
    Case("concat", (IMAGES,), IMAGES),
    Case("concat", (IMAGES, (2, 1, 6, 6), IMAGES), (2, 9, 6, 6)),
    Case("concat", (VECTORS, VECTORS), (2, 10)),
    Case("concat", (VECTORS, (3, 5)), (5, 5), attributes={"axis": 0}),
    Case("reshape", (IMAGES,), (8, 36), attributes={"shape": (-1, 36), "kind": "plain"}),
    Case("transpose", (IMAGES,), (6, 2, 6, 4), attributes={"axes": (3, 0, 2, 1), "kind": "plain"}),
    Case("slice", (IMAGES,), (2, 3, 6, 6), attributes={"axis": 1, "start": 1, "stop": 4}),
    Case("reduce_sum", (IMAGES,), (6, 6), 0, 288, 0, 0, {"axes": (1, 0), "keep": False}),
    Case("reduce_mean", (IMAGES,), (2, 4, 1, 1), 0, 288, 288, 288, {"axes": (2, 3), "keep": True}),
    Case("reduce_max", (VECTORS,), (2,), 0, 10, 10, 10, {"axes": (1,), "keep": False}),
    Case("gather", ((7, 5), (2, 3)), (2, 3, 5), 0, 0, 30, 30),
    Case("one_hot", ((2, 3),), (2, 3, 9), attributes={"classes": 9}),
    Case("softmax_cross_entropy", (VECTORS, (2,)), (), 0, 50, 20, 20),
    Case("mean_squared_error", (VECTORS, VECTORS), (), 0, 30, 20, 20),
    Case("binary_cross_entropy", (VECTORS, VECTORS), (), 0, 60, 40, 40),
    Case("gaussian_kl", (VECTORS, VECTORS), (), 0, 60, 40, 40),
    _elementwise("stop_gradient", (VECTORS,), (0, 0)),
    _elementwise("bernoulli", (VECTORS,), (1, 0), seed=1),
    Case("normal", (), (2, 7), 0, 14, attributes={"seed": 1, "shape": (2, 7), "kind": "plain"}),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)


def test_every_op_has_a_case() -> None:
    assert {case.op for case in CASES} == set(OPS)


@every_case
def test_the_shape_is_the_expected_one(case: Case) -> None:
    assert resolve_shape("it", case.op, case.inputs, case.attributes) == case.shape


@every_case
def test_the_cost_is_the_expected_one(case: Case) -> None:
    assert OPS[case.op].flops(case.inputs, case.shape, case.attributes) == Flops(
        macs=case.macs,
        forward=case.forward,
        backward=case.backward,
        to_input=case.to_input,
    )


@pytest.mark.parametrize("name", OPS)
def test_what_backward_keeps_and_what_is_state_are_roles_of_the_op(name: str) -> None:
    op = OPS[name]
    assert set(op.keeps) <= {*op.inputs, "output"}
    assert {*op.state, *op.weights, *op.integers} <= set(op.roles())
    assert not (op.blocks_gradient and op.keeps)
