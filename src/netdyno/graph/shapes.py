"""Which shape an operation gives: one rule per op, from input shapes and attributes."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from netdyno.graph.model import Shape

Attributes = Mapping[str, Any]


class ShapeError(ValueError):
    """What the op expected and what it received; the caller adds the node's name."""


def convolution(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    x, weight = inputs[0], inputs[1]
    _rank(x, 4)
    _rank(weight, 4)
    groups = attributes["groups"]
    if x[1] != weight[1] * groups or weight[0] % groups:
        raise ShapeError(f"a weight for {x[1]} channels in {groups} groups, received {list(weight)}")
    _vector(inputs[2:], weight[0])
    return (x[0], weight[0], *_window(x, weight[2:], attributes))


def linear(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    x, weight = inputs[0], inputs[1]
    _rank(x, 2)
    _rank(weight, 2)
    if x[1] != weight[1]:
        raise ShapeError(f"a weight for {x[1]} features, received {list(weight)}")
    _vector(inputs[2:], weight[0])
    return (x[0], weight[0])


def pool(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    x = inputs[0]
    _rank(x, 4)
    kernel = attributes["kernel"]
    top, bottom, left, right = attributes["padding"]
    if max(top, bottom) >= kernel[0] or max(left, right) >= kernel[1]:
        raise ShapeError(f"padding smaller than the kernel {list(kernel)}, received {[top, bottom, left, right]}")
    return (x[0], x[1], *_window(x, kernel, attributes))


def global_mean_pool(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _rank(inputs[0], 4)
    return inputs[0][:2]


def batch_norm(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    if len(inputs[0]) not in (2, 4):
        raise ShapeError(f"a value of rank 2 or 4, received {list(inputs[0])}")
    _vector(inputs[1:], inputs[0][1])
    return inputs[0]


def local_response_norm(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _rank(inputs[0], 4)
    return inputs[0]


def same(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """Elementwise: every input has the shape that the output gets."""
    for other in inputs[1:]:
        if other != inputs[0]:
            raise ShapeError(f"inputs of one shape, received {[list(shape) for shape in inputs]}")
    return inputs[0]


def flatten(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    if not inputs[0]:
        raise ShapeError("a value of rank 1 or more, received []")
    return (inputs[0][0], prod(inputs[0][1:]))


def concat(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    first = inputs[0]
    if len(first) < 2:
        raise ShapeError(f"values of rank 2 or more, received {list(first)}")
    for other in inputs[1:]:
        if other[:1] + other[2:] != first[:1] + first[2:]:
            raise ShapeError(f"inputs alike but for channels, received {[list(shape) for shape in inputs]}")
    return (first[0], sum(shape[1] for shape in inputs), *first[2:])


def cross_entropy(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _rank(inputs[0], 2)
    if inputs[1] != inputs[0][:1]:
        raise ShapeError(f"one label per row of {list(inputs[0])}, received {list(inputs[1])}")
    return ()


def loss(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """A scalar from two values of one shape."""
    same(inputs, attributes)
    return ()


def drawn(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    return tuple(attributes["shape"])


def _window(x: Shape, kernel: Sequence[int], attributes: Attributes) -> tuple[int, int]:
    """Height and width after sliding `kernel` over the padded `x`."""
    top, bottom, left, right = attributes["padding"]
    height = (x[2] + top + bottom - kernel[0]) // attributes["strides"][0] + 1
    width = (x[3] + left + right - kernel[1]) // attributes["strides"][1] + 1
    if height < 1 or width < 1:
        raise ShapeError(f"an image of at least the kernel {list(kernel)}, received {list(x)}")
    return height, width


def _rank(shape: Shape, rank: int) -> None:
    if len(shape) != rank:
        raise ShapeError(f"a value of rank {rank}, received {list(shape)}")


def _vector(shapes: Sequence[Shape], length: int) -> None:
    for shape in shapes:
        if shape != (length,):
            raise ShapeError(f"a vector of {length}, received {list(shape)}")
