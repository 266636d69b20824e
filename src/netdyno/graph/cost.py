"""What an operation costs: multiply-accumulates, FLOPs forward and backward, one rule per op."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from netdyno.graph.model import Shape

Attributes = Mapping[str, Any]
Rule = Callable[[Sequence[Shape], Shape, Attributes], "Cost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """`backward_flops` is the full backward pass; `input_flops` the part of it that makes the gradient of the
    first input, which a first layer does not need."""

    macs: int = 0
    forward_flops: int = 0
    backward_flops: int = 0
    input_flops: int = 0


def convolution(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Cost:
    weight = inputs[1]
    return _product(prod(output) * prod(weight[1:]), prod(output) if len(inputs) > 2 else 0)


def linear(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Cost:
    return _product(prod(output) * inputs[1][1], prod(output) if len(inputs) > 2 else 0)


def pool(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Cost:
    """One operation per element of each window, and one per element back."""
    reads = prod(output) * prod(attributes["kernel"])
    return Cost(forward_flops=reads, backward_flops=reads, input_flops=reads)


def local_response_norm(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Cost:
    """Square, a window sum, a power and a product per element; about twice that back."""
    flops = prod(output) * (attributes["size"] + 5)
    return Cost(forward_flops=flops, backward_flops=2 * flops, input_flops=2 * flops)


def per_element(forward: int, backward: int) -> Rule:
    """So many operations per element of the first input, forward and backward."""

    def rule(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Cost:
        elements = prod(inputs[0])
        return Cost(
            forward_flops=forward * elements,
            backward_flops=backward * elements,
            input_flops=backward * elements,
        )

    return rule


def free(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Cost:
    """Moves or relabels values and computes nothing."""
    return Cost()


def drawn(inputs: Sequence[Shape], output: Shape, attributes: Attributes) -> Cost:
    return Cost(forward_flops=prod(output))


def _product(macs: int, bias_adds: int) -> Cost:
    return Cost(
        macs=macs,
        forward_flops=2 * macs + bias_adds,
        backward_flops=4 * macs + bias_adds,
        input_flops=2 * macs,
    )
