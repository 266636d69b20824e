"""How many operations an op takes: multiply-accumulates, FLOPs forward and backward, one rule per op."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from netdyno.graph.model import Shape

Attributes = Mapping[str, Any]
Rule = Callable[[Sequence[Shape], Shape, Attributes], "Flops"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flops:
    """`backward` is the full backward pass; `to_input` the part of it that makes the gradient of the first input,
    which a first layer does not need."""

    macs: int = 0
    forward: int = 0
    backward: int = 0
    to_input: int = 0


def convolution(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    weight = inputs[1]
    return _product(prod(output) * prod(weight[1:]), prod(output) if len(inputs) > 2 else 0)


def transposed_convolution(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    return _product(prod(inputs[0]) * prod(inputs[1][1:]), prod(output) if len(inputs) > 2 else 0)


def matmul(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    return _product(prod(output) * inputs[0][-1], 0)


def linear(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    return _product(prod(output) * inputs[1][1], prod(output) if len(inputs) > 2 else 0)


def pool(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    """One operation per element of each window, and one per element back."""
    reads = prod(output) * prod(attributes["kernel"])
    return Flops(forward=reads, backward=reads, to_input=reads)


def local_response_norm(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    """Square, a window sum, a power and a product per element; about twice that back."""
    flops = prod(output) * (attributes["size"] + 5)
    return Flops(forward=flops, backward=2 * flops, to_input=2 * flops)


def per_element(forward: int, backward: int) -> Rule:
    """So many operations per element of the first input, forward and backward."""

    def rule(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
        elements = prod(inputs[0])
        return Flops(
            forward=forward * elements,
            backward=backward * elements,
            to_input=backward * elements,
        )

    return rule


def broadcast(forward: int, backward: int) -> Rule:
    """So many operations per element of the output, and one addition back for each that an input was repeated to."""

    def rule(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
        elements = prod(output)
        repeated = [elements if prod(shape) < elements else 0 for shape in inputs]
        return Flops(
            forward=forward * elements,
            backward=backward * elements + sum(repeated),
            to_input=backward * elements + repeated[0],
        )

    return rule


def attention(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    """Two products, and between them about five operations per score forward and four back."""
    (*rows, features), places = inputs[0], inputs[1][2]
    scores = prod(rows) * places
    product = _product(scores * (features + output[3]), 0)
    return Flops(
        macs=product.macs,
        forward=product.forward + 5 * scores,
        backward=product.backward + 4 * scores,
        to_input=2 * scores * features + 4 * scores,
    )


def recurrent(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    """Both products of each step, and about four operations per gate forward and six back."""
    (batch, steps, features), (gates, hidden) = inputs[0], inputs[2]
    rows = batch * steps
    product = _product(rows * gates * (features + hidden), 2 * rows * gates)
    return Flops(
        macs=product.macs,
        forward=product.forward + 4 * rows * gates,
        backward=product.backward + 6 * rows * gates,
        to_input=2 * rows * gates * features,
    )


def gather(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    """Picking costs nothing; each gradient is added to its row."""
    return Flops(backward=prod(output), to_input=prod(output))


def free(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    """Moves or relabels values and computes nothing."""
    return Flops()


def drawn(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Flops:
    return Flops(forward=prod(output))


def _product(macs: int, bias_adds: int) -> Flops:
    return Flops(
        macs=macs,
        forward=2 * macs + bias_adds,
        backward=4 * macs + bias_adds,
        to_input=2 * macs,
    )
