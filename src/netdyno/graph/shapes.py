"""Which shape an operation gives: one rule per op, from input shapes and attributes."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from netdyno.graph.model import Shape

Attributes = Mapping[str, Any]
ShapeRule = Callable[[Sequence[Shape], Attributes], Shape]


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


def transposed_convolution(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """The image that a convolution with this weight would make `x` of."""
    x, weight = inputs[0], inputs[1]
    _rank(x, 4)
    _rank(weight, 4)
    groups = attributes["groups"]
    if x[1] != weight[0] or weight[0] % groups:
        raise ShapeError(f"a weight for {x[1]} channels in {groups} groups, received {list(weight)}")
    _vector(inputs[2:], weight[1] * groups)
    top, bottom, left, right = attributes["padding"]
    height = (x[2] - 1) * attributes["strides"][0] + weight[2] - top - bottom
    width = (x[3] - 1) * attributes["strides"][1] + weight[3] - left - right
    if height < 1 or width < 1:
        raise ShapeError(f"padding smaller than the image, received {[top, bottom, left, right]}")
    return (x[0], weight[1] * groups, height, width)


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


def layer_norm(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    if len(inputs[0]) < 2:
        raise ShapeError(f"a value of rank 2 or more, received {list(inputs[0])}")
    _vector(inputs[1:], inputs[0][-1])
    return inputs[0]


def group_norm(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _rank(inputs[0], 4)
    if inputs[0][1] % attributes["groups"]:
        raise ShapeError(f"channels that {attributes['groups']} groups divide, received {inputs[0][1]}")
    _vector(inputs[1:], inputs[0][1])
    return inputs[0]


def attention(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """Of (batch, heads, places, features) each; keys and values have as many places."""
    query, key, value = inputs
    for shape in inputs:
        _rank(shape, 4)
    if key[:2] != query[:2] or value[:3] != key[:3] or key[3] != query[3]:
        raise ShapeError(f"queries, keys and values that fit, received {[list(shape) for shape in inputs]}")
    if attributes["causal"] and query[2] != key[2]:
        raise ShapeError(f"as many queries as keys where it is causal, received {query[2]} and {key[2]}")
    return (*query[:3], value[3])


def recurrent(gates: int) -> ShapeRule:
    """Of a layer with so many gates: (batch, steps, features) → (batch, steps, hidden)."""

    def rule(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
        x, to_input, to_hidden = inputs[:3]
        _rank(x, 3)
        _rank(to_hidden, 2)
        hidden = to_hidden[1]
        wanted = [(gates * hidden, x[2]), (gates * hidden, hidden)]
        if [to_input, to_hidden] != wanted:
            raise ShapeError(f"weights of {[list(w) for w in wanted]}, received {[list(to_input), list(to_hidden)]}")
        _vector(inputs[3:], gates * hidden)
        return (*x[:2], hidden)

    return rule


def same(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """Elementwise: every input has the shape that the output gets."""
    for other in inputs[1:]:
        if other != inputs[0]:
            raise ShapeError(f"inputs of one shape, received {[list(shape) for shape in inputs]}")
    return inputs[0]


def broadcast(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """Numpy's rule: axes are aligned at the end, and one that is missing or of length 1 is repeated."""
    rank = max(len(shape) for shape in inputs)
    aligned = [(1,) * (rank - len(shape)) + shape for shape in inputs]
    lengths = [set(axis) - {1} for axis in zip(*aligned, strict=True)]
    if any(len(axis) > 1 for axis in lengths):
        raise ShapeError(f"inputs of one shape, or with axes of length 1, received {[list(s) for s in inputs]}")
    return tuple(max(axis, default=1) for axis in lengths)


def along_axis(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """The shape of the input, which has the axis."""
    _has_axes(inputs[0], (attributes["axis"],))
    return inputs[0]


def matmul(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    a, b = inputs
    if len(a) < 2 or len(b) != len(a) or a[:-2] != b[:-2] or a[-1] != b[-2]:
        raise ShapeError(f"matrices (…, n, k) and (…, k, m) with equal leading axes, received {[list(a), list(b)]}")
    return (*a[:-1], b[-1])


def reshape(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """One axis may be −1: what is left for it."""
    wanted, count = tuple(attributes["shape"]), prod(inputs[0])
    known = prod(length for length in wanted if length > 0)
    found = tuple(count // known if length < 0 else length for length in wanted)
    if prod(found) != count:
        raise ShapeError(f"a shape of {count} elements, as {list(inputs[0])} has, received {list(wanted)}")
    return found


def transpose(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    axes = attributes["axes"]
    if sorted(axes) != list(range(len(inputs[0]))):
        raise ShapeError(f"every axis of {list(inputs[0])} once, received {list(axes)}")
    return tuple(inputs[0][axis] for axis in axes)


def sliced(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    axis, start, stop = (attributes[key] for key in ("axis", "start", "stop"))
    _has_axes(inputs[0], (axis,))
    if not start < stop <= inputs[0][axis]:
        raise ShapeError(f"start < stop <= {inputs[0][axis]}, received {start} and {stop}")
    return (*inputs[0][:axis], stop - start, *inputs[0][axis + 1 :])


def reduced(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    axes = attributes["axes"]
    _has_axes(inputs[0], axes)
    if attributes["keep"]:
        return tuple(1 if axis in axes else length for axis, length in enumerate(inputs[0]))
    return tuple(length for axis, length in enumerate(inputs[0]) if axis not in axes)


def gather(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _rank(inputs[0], 2)
    return (*inputs[1], inputs[0][1])


def one_hot(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    return (*inputs[0], attributes["classes"])


def clamped(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    if attributes["low"] >= attributes["high"]:
        raise ShapeError(f"low < high, received {attributes['low']} and {attributes['high']}")
    return inputs[0]


def flatten(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    if not inputs[0]:
        raise ShapeError("a value of rank 1 or more, received []")
    return (inputs[0][0], prod(inputs[0][1:]))


def concat(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    first, axis = inputs[0], attributes.get("axis", 1)
    if len(first) <= axis:
        raise ShapeError(f"values of rank {axis + 1} or more, received {list(first)}")
    for other in inputs[1:]:
        if other[:axis] + other[axis + 1 :] != first[:axis] + first[axis + 1 :]:
            what = "channels" if axis == 1 else f"axis {axis}"
            raise ShapeError(f"inputs alike but for {what}, received {[list(shape) for shape in inputs]}")
    return (*first[:axis], sum(shape[axis] for shape in inputs), *first[axis + 1 :])


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


def _has_axes(shape: Shape, axes: Sequence[int]) -> None:
    if len(set(axes)) != len(axes) or not all(axis < len(shape) for axis in axes):
        raise ShapeError(f"axes of {list(shape)}, each once, received {list(axes)}")


def _rank(shape: Shape, rank: int) -> None:
    if len(shape) != rank:
        raise ShapeError(f"a value of rank {rank}, received {list(shape)}")


def _vector(shapes: Sequence[Shape], length: int) -> None:
    for shape in shapes:
        if shape != (length,):
            raise ShapeError(f"a vector of {length}, received {list(shape)}")
