"""Does every op's rule for shapes and kinds refuse what does not fit, by the node's name?"""

from collections.abc import Mapping
from typing import Any

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.check import resolve_kind, resolve_shape
from netdyno.graph.model import Shape


@pytest.mark.parametrize(
    ("op", "shapes", "attributes", "complaint"),
    [
        ("layer_norm", [(2, 5), (4,), (5,)], {"epsilon": 1e-5}, r"a vector of 5, received \[4\]"),
        ("group_norm", [(2, 6, 4, 4), (6,), (6,)], {"groups": 4, "epsilon": 1e-5}, "channels that 4 groups divide"),
        ("gelu", [(2, 5)], {"form": "exact"}, "form: expected erf or tanh, received 'exact'"),
        (
            "attention",
            [(2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5)],
            {"causal": True},
            "as many queries as keys where it is causal, received 4 and 6",
        ),
        (
            "attention",
            [(2, 3, 4, 5), (2, 3, 4, 6), (2, 3, 4, 6)],
            {"causal": False},
            "queries, keys and values that fit",
        ),
        ("lstm", [(3, 4, 5), (6, 5), (6, 2), (6,), (6,)], {}, r"weights of \[\[8, 5\], \[8, 2\]\]"),
        (
            "convolution",
            [(1, 3, 8, 8), (4, 3, 3, 3)],
            {"strides": (1, 1), "padding": (1, 1), "groups": 1},
            r"padding: expected four whole numbers \(top, bottom, left, right\), received \(1, 1\)",
        ),
        (
            "convolution",
            [(1, 3, 8, 8), (4, 3, 3, 3)],
            {"strides": (1, 1), "padding": (0, 0, 0, -1), "groups": 1},
            "padding: expected four whole numbers",
        ),
        (
            "convolution",
            [(1, 3, 8, 8), (4, 3, 3, 3)],
            {"strides": (0, 1), "padding": (0, 0, 0, 0), "groups": 1},
            "strides: expected two whole numbers over 0",
        ),
        (
            "convolution",
            [(1, 3, 8, 8), (4, 2, 3, 3)],
            {"strides": (1, 1), "padding": (0, 0, 0, 0), "groups": 1},
            "expected a weight for 3 channels in 1 groups",
        ),
        (
            "convolution",
            [(1, 3, 8, 8), (4, 3, 3, 3), (5,)],
            {"strides": (1, 1), "padding": (0, 0, 0, 0), "groups": 1},
            r"expected a vector of 4, received \[5\]",
        ),
        (
            "max_pool",
            [(1, 3, 8, 8)],
            {"kernel": (2, 2), "strides": (2, 2), "padding": (0, 2, 0, 0)},
            "expected padding smaller than the kernel",
        ),
        (
            "mean_pool",
            [(1, 3, 2, 8)],
            {"kernel": (3, 3), "strides": (1, 1), "padding": (0, 0, 0, 0)},
            r"expected an image of at least the kernel \[3, 3\]",
        ),
        ("linear", [(2, 5), (3, 4)], {}, r"expected a weight for 5 features, received \[3, 4\]"),
        ("linear", [(2, 5, 1, 1), (3, 5)], {}, "expected a value of rank 2"),
        ("global_mean_pool", [(2, 5)], {}, "expected a value of rank 4"),
        (
            "local_response_norm",
            [(2, 5)],
            {"size": 5, "alpha": 1.0, "beta": 1.0, "k": 1.0},
            "expected a value of rank 4",
        ),
        (
            "batch_norm",
            [(2, 5, 3), (5,), (5,), (5,), (5,)],
            {"epsilon": 1e-5, "momentum": 0.1},
            "expected a value of rank 2 or 4",
        ),
        (
            "batch_norm",
            [(2, 5), (5,), (5,), (4,), (5,)],
            {"epsilon": 1e-5, "momentum": 0.1},
            "expected a vector of 5",
        ),
        (
            "batch_norm",
            [(2, 5), (5,), (5,), (5,), (5,)],
            {"epsilon": 0, "momentum": 0.1},
            "epsilon: expected a number over 0",
        ),
        ("add", [(2, 5), (2, 3)], {}, "expected inputs of one shape"),
        ("concat", [(2, 5, 3, 3), (2, 5, 4, 3)], {}, "expected inputs alike but for channels"),
        ("concat", [(2, 5), (3, 5)], {"axis": 1}, "axis: expected a whole number other than 1, which is left out"),
        ("concat", [(2, 5), (3, 4)], {"axis": 0}, "expected inputs alike but for axis 0"),
        ("matmul", [(2, 3, 4), (3, 4, 5)], {}, "expected matrices .* with equal leading axes"),
        ("matmul", [(3, 4), (5, 4)], {}, "expected matrices"),
        ("reshape", [(2, 6)], {"shape": (5, -1), "kind": "plain"}, "expected a shape of 12 elements"),
        ("reshape", [(2, 6)], {"shape": (-1, -1), "kind": "plain"}, "shape: expected .* one of which may be -1"),
        ("transpose", [(2, 6)], {"axes": (0, 0), "kind": "plain"}, "expected every axis of .2, 6. once"),
        ("slice", [(2, 6)], {"axis": 1, "start": 2, "stop": 7}, "expected start < stop <= 6, received 2 and 7"),
        ("slice", [(2, 6)], {"axis": 2, "start": 0, "stop": 1}, "expected axes of .2, 6., each once"),
        ("reduce_sum", [(2, 6)], {"axes": (1, 1), "keep": True}, "expected axes of .2, 6., each once"),
        ("reduce_max", [(2, 6)], {"axes": (), "keep": True}, "axes: expected a list of whole numbers"),
        ("softmax", [(2, 6)], {"axis": 2}, "expected axes of .2, 6."),
        ("clamp", [(2, 6)], {"low": 1.0, "high": 1.0}, "expected low < high"),
        ("gather", [(7, 5, 1), (2,)], {}, "expected a value of rank 2"),
        (
            "transposed_convolution",
            [(1, 3, 8, 8), (4, 2, 3, 3)],
            {"strides": (1, 1), "padding": (0, 0, 0, 0), "groups": 1},
            "expected a weight for 3 channels in 1 groups",
        ),
        (
            "transposed_convolution",
            [(1, 4, 2, 2), (4, 2, 3, 3)],
            {"strides": (1, 1), "padding": (2, 2, 0, 0), "groups": 1},
            "expected padding smaller than the image",
        ),
        ("softmax_cross_entropy", [(2, 5), (3,)], {}, "expected one label per row"),
        ("mean_squared_error", [(2, 5), (5, 2)], {}, "expected inputs of one shape"),
        ("scale", [(2, 5)], {"factor": float("nan")}, "factor: expected a number, received nan"),
        ("scale", [(2, 5)], {"factor": True}, "factor: expected a number, received True"),
        ("normal", [], {"seed": 1, "shape": (2, 4), "kind": "kernel"}, "kind: expected a kind among"),
        (
            "normal",
            [],
            {"seed": 1, "shape": (2, 0), "kind": "plain"},
            "shape: expected a list of whole numbers over 0",
        ),
        ("dropout", [(2, 5)], {"rate": 0.5, "seed": -1}, "seed: expected a whole number"),
    ],
)
def test_wrong_shapes_and_attributes_are_refused_by_name(
    op: str, shapes: list[Shape], attributes: Mapping[str, Any], complaint: str
) -> None:
    with pytest.raises(NetdynoError, match=f"node 'it'.*{complaint}"):
        resolve_shape("it", op, shapes, attributes)


@pytest.mark.parametrize(
    ("op", "kinds", "complaint"),
    [
        ("convolution", ["plain", "kernel"], "expected a value of kind 'image', received one of kind 'plain'"),
        ("convolution", ["image", "plain"], "expected a value of kind 'kernel', received one of kind 'plain'"),
        ("linear", ["image", "plain"], "expected a value of kind 'plain', received one of kind 'image'"),
        ("max_pool", ["sequence"], "expected a value of kind 'image'"),
        ("add", ["image", "plain"], "expected a value of kind 'image', received one of kind 'plain'"),
        ("matmul", ["image", "image"], "expected a value of a kind among .* received one of kind 'image'"),
        ("gather", ["kernel", "plain"], "expected a value of kind 'plain', received one of kind 'kernel'"),
    ],
)
def test_a_wrong_kind_of_value_is_refused_by_name(op: str, kinds: list[str], complaint: str) -> None:
    with pytest.raises(NetdynoError, match=f"node 'it' \\({op}\\): {complaint}"):
        resolve_kind("it", op, kinds, {})


@pytest.mark.parametrize(
    ("op", "kinds", "attributes", "kind"),
    [
        ("add", ["plain", "sequence"], {}, "sequence"),
        ("multiply", ["image", "image"], {}, "image"),
        ("reduce_mean", ["image"], {"axes": (2, 3), "keep": True}, "image"),
        ("reduce_mean", ["image"], {"axes": (2, 3), "keep": False}, "plain"),
        ("reshape", ["plain"], {"shape": (-1, 3, 4, 5), "kind": "image"}, "image"),
        ("transpose", ["image"], {"axes": (0, 2, 3, 1), "kind": "plain"}, "plain"),
        ("gather", ["plain", "sequence"], {}, "sequence"),
        ("slice", ["image"], {}, "image"),
    ],
)
def test_the_kind_is_the_expected_one(op: str, kinds: list[str], attributes: Mapping[str, Any], kind: str) -> None:
    assert resolve_kind("it", op, kinds, attributes) == kind


def test_an_image_has_four_axes_whatever_it_was_made_of() -> None:
    with pytest.raises(NetdynoError, match=r"node 'it' .reshape.: expected 4 axes of an image"):
        resolve_kind("it", "reshape", ["plain"], {"shape": (-1, 3), "kind": "image"})
