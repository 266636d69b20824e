"""The catalogue: every kind of mistake, each in several strengths from strong to weak.

Most are made in the graph and so in every framework at once; those of `mistaken` and `wrong` are made in the adapter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from proof_rewrites import (
    Rewrite,
    attribute,
    changed_nodes,
    gradient_of_parameter,
    gradient_of_value,
    leaky,
    lost_branch,
    mistaken,
    optimizer,
    other_initial,
    other_inputs,
    scaled_value,
    transposed_matrix,
)

from netdyno.graph.model import Node, Optimizer, Programme

BOTH = ("float64", "float32")
PLAIN = ("sgd", "momentum")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One mistake in one strength. `is_usual`: the strength in which people make it, tried in every framework."""

    kind: str
    strength: str
    rewrite: Rewrite
    is_usual: bool
    precisions: tuple[str, ...] = BOTH


def kind(
    name: str, *strengths: tuple[str, Rewrite], usual: int = 0, precisions: tuple[str, ...] = BOTH
) -> list[Mutation]:
    return [
        Mutation(kind=name, strength=words, rewrite=rewrite, is_usual=place == usual, precisions=precisions)
        for place, (words, rewrite) in enumerate(strengths)
    ]


def times(make: Callable[[float], Rewrite], *factors: float) -> list[tuple[str, Rewrite]]:
    return [(f"×{factor:.7g}", make(factor)) for factor in factors]


def plus(make: Callable[[float], Rewrite], *amounts: float) -> list[tuple[str, Rewrite]]:
    return [(f"{amount:+.0e}".replace("e-0", "e-"), make(amount)) for amount in amounts]


def scaled(op: str, name: str) -> Callable[[float], Rewrite]:
    return lambda factor: attribute(op, name, lambda value: value * factor)


def moved(op: str, name: str) -> Callable[[float], Rewrite]:
    return lambda amount: attribute(op, name, lambda value: value + amount)


def tuned(field: str, kinds: tuple[str, ...]) -> Callable[[float], Rewrite]:
    return lambda factor: optimizer(kinds, lambda own: {field: getattr(own, field) * factor})


def wrong(name: str, kinds: tuple[str, ...] = PLAIN) -> Callable[[float], Rewrite]:
    """An optimizer of `mutants/`; it finds its strength where the others have an epsilon."""

    def change(own: Optimizer, strength: float) -> dict[str, Any]:
        momentum = own.momentum if own.kind != "sgd" else 0.0
        return {"kind": name, "momentum": momentum, "epsilon": strength}

    return lambda strength: optimizer(kinds, lambda own: change(own, strength))


def shifted(node: Node) -> dict[str, Any] | None:
    """One row and column of padding from the far side to the near one, or back."""
    top, bottom, left, right = node.attributes["padding"]
    if bottom and right:
        return {"padding": (top + 1, bottom - 1, left + 1, right - 1)}
    return {"padding": (top - 1, bottom + 1, left - 1, right + 1)} if top and left else None


def floored(node: Node) -> dict[str, Any] | None:
    """Without what ceil mode adds at the far side."""
    top, bottom, left, right = node.attributes["padding"]
    return {"padding": (top, top, left, left)} if (bottom, right) > (top, left) else None


def of(op: str, change: Callable[[Node], dict[str, Any] | None]) -> Rewrite:
    return changed_nodes(lambda node: change(node) if node.op == op else None)


def smaller_window(node: Node) -> dict[str, Any] | None:
    """As far as the number of windows stays; what does not fit is refused."""
    rows, columns = node.attributes["kernel"]
    return {"kernel": (rows - 1, columns - 1)} if rows == 3 and node.attributes["strides"] == (2, 2) else None


def first_input(programme: Programme) -> str | None:
    return next((i.name for i in programme.graph.inputs if i.dtype == "float"), None)


def loss_of(programme: Programme) -> str:
    return programme.updates()[0].loss


def batch_of(programme: Programme) -> float:
    return float(programme.graph.inputs[0].shape[0])


def summed(programme: Programme) -> Programme | None:
    return scaled_value(loss_of, batch_of(programme))(programme)


def averaged_by_one_more(programme: Programme) -> Programme | None:
    batch = batch_of(programme)
    return scaled_value(loss_of, batch / (batch + 1.0))(programme)


def padded(node: Node) -> bool:
    return any(node.attributes["padding"])


LAYERS = [
    *kind("batch norm: epsilon", *times(scaled("batch_norm", "epsilon"), 10, 2, 1.1, 1.01, 1.0001)),
    *kind(
        "batch norm: momentum",
        *times(scaled("batch_norm", "momentum"), 9, 1.1, 1.01, 1.0001, 1.000001),
    ),
    *kind("batch norm: biased running variance", ("", mistaken("batch_norm", "biased"))),
    *kind("batch norm: first scale", *times(partial(other_initial, "scale"), 1.01, 1.0001, 1.000001)),
    *kind("LRN: alpha", *times(scaled("local_response_norm", "alpha"), 5, 2, 1.1, 1.01, 1.0001)),
    *kind("LRN: k", *plus(moved("local_response_norm", "k"), 1e-2, 1e-4, 1e-6), usual=1),
    *kind("LRN: beta", *plus(moved("local_response_norm", "beta"), 1e-2, 1e-4, 1e-6), usual=1),
    *kind("LRN: window of 3 for 5", ("", attribute("local_response_norm", "size", lambda size: size - 2))),
    *kind("convolution: padding on wrong side", ("", of("convolution", lambda n: shifted(n)))),
    *kind("convolution: transposed kernel", ("", mistaken("convolution", "transposed"))),
    *kind("convolution: flipped kernel", ("", mistaken("convolution", "flipped"))),
    *kind("linear: transposed weight", ("", transposed_matrix)),
    *kind("max pool: padding on wrong side", ("", of("max_pool", shifted))),
    *kind("mean pool: padding on wrong side", ("", of("mean_pool", shifted))),
    *kind("max pool: floor for ceil", ("", of("max_pool", floored))),
    *kind("mean pool: floor for ceil", ("", of("mean_pool", floored))),
    *kind("max pool: window of 2 for 3", ("", of("max_pool", smaller_window))),
    *kind("max pool: padding of zeros", ("", mistaken("max_pool", "zeros", padded))),
    *kind("mean pool: counts padding", ("", mistaken("mean_pool", "counts padding", padded))),
    *kind("flatten: channels last", ("", mistaken("flatten", "channels last"))),
    *kind("concat: other order", ("", other_inputs("concat", lambda names: names[::-1]))),
    *kind("relu: leaky", *[(f"{slope:.0e}".replace("e-0", "e-"), leaky(slope)) for slope in (1e-2, 1e-4, 1e-6)]),
    *kind("dropout: not rescaled", ("", mistaken("dropout", "not rescaled"))),
    *kind("dropout: rate", *times(scaled("dropout", "rate"), 0.8)),
    *kind("float16 in a convolution", ("", mistaken("convolution", "half")), precisions=("float32",)),
    *kind("float16 in a linear layer", ("", mistaken("linear", "half")), precisions=("float32",)),
    *kind("input", *times(lambda f: scaled_value(first_input, f), 1.01, 1.0001, 1.000001)),
    *kind("first weights", *times(partial(other_initial, "weight"), 1.01, 1.0001, 1.000001)),
]

GRADIENTS = [
    *kind("loss: summed, not averaged", ("", summed)),
    *kind("loss: averaged over one item more", ("", averaged_by_one_more)),
    *kind("loss", *times(lambda f: scaled_value(loss_of, f), 1.01, 1.0001, 1.000001)),
    *kind("gradient after a relu", *times(partial(gradient_of_value, "relu"), 0.9, 0.99, 0.9999, 0.999999), usual=1),
    *kind("gradient after a tanh", *times(partial(gradient_of_value, "tanh"), 0.9, 0.99, 0.9999, 0.999999), usual=1),
    *kind("gradient of a bias", *times(partial(gradient_of_parameter, "bias"), 2, 1.01, 1.0001, 1.000001)),
    *kind("gradient of a weight", *times(partial(gradient_of_parameter, "weight"), 0.99, 0.9999, 0.999999)),
    *kind("gradient of a batch norm's shift", *times(partial(gradient_of_parameter, "shift"), 2, 1.01, 1.0001)),
    *kind("frozen bias", ("", gradient_of_parameter("bias", 0.0))),
    *kind("frozen weight", ("", gradient_of_parameter("weight", 0.0))),
    *kind("frozen batch norm scale", ("", gradient_of_parameter("scale", 0.0))),
    *kind("addition: branch without gradient", ("", lost_branch)),
]

OPTIMIZERS = [
    *kind("learning rate", *times(tuned("learning_rate", (*PLAIN, "adam")), 1.01, 1.0001, 1.000001)),
    *kind(
        "momentum",
        *[
            (f"{value:g}", optimizer(("momentum",), lambda own, value=value: {"momentum": value}))
            for value in (0.89, 0.899, 0.8999, 0.899999)
        ],
    ),
    *kind("Nesterov momentum", ("", wrong("nesterov", ("momentum",))(0.0))),
    *kind("dampening", *[(f"{d:g}", wrong("dampened", ("momentum",))(d)) for d in (0.9, 0.1, 1e-2, 1e-4, 1e-6)]),
    *kind(
        "weight decay",
        *[(f"{d:.0e}".replace("e-0", "e-"), wrong("decayed")(d)) for d in (1e-3, 1e-4, 1e-5, 1e-6)],
        usual=2,
    ),
    *kind(
        "weight decay beside Adam",
        *[(f"{d:.0e}".replace("e-0", "e-"), wrong("adamw", ("adam",))(d)) for d in (1e-2, 1e-4, 1e-5, 1e-6)],
        usual=2,
    ),
    *kind("one element is never updated", ("", wrong("partial")(0.0))),
    *kind("Adam: epsilon inside the root", ("", optimizer(("adam",), lambda own: {"kind": "adam-inside"}))),
    *kind("Adam: epsilon before correction", ("", optimizer(("adam",), lambda own: {"kind": "adam-before"}))),
    *kind("Adam: no bias correction", ("", optimizer(("adam",), lambda own: {"kind": "adam-uncorrected"}))),
    *kind("Adam: epsilon", *times(tuned("epsilon", ("adam",)), 100, 10, 1.1, 1.01)),
    *kind("Adam: beta1", *times(tuned("beta1", ("adam",)), 0.99, 0.9999, 0.999999)),
    *kind("Adam: beta2", *times(tuned("beta2", ("adam",)), 0.999, 0.99999, 0.9999999)),
]

MUTATIONS = (*LAYERS, *GRADIENTS, *OPTIMIZERS)
