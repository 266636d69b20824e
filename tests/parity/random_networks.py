"""Networks drawn at random from the public builder: what anyone might write, and nobody has tried.

A network is a list of layers, so that layers can be left out of one that is called wrong until its cause is left.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.graph.check import check_programme
from netdyno.graph.model import Optimizer, Programme, Shape
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.initial_limits import glorot, he

CLASSES = 5
INITIAL = {"he": he, "glorot": glorot}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A method of the builder. `inputs` are numbers of earlier layers, from 1; 0 stands for the images."""

    op: str
    inputs: tuple[int, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tied_to: int = 0  # a layer whose weight it uses; 0: one of its own

    def has_weights(self) -> bool:
        return self.op in ("batch_norm", "classifier") or (self.op in ("convolution", "linear") and not self.tied_to)

    def name(self, number: int) -> str:
        return f"{self.op}{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A network as data. Every `classifier` among its layers adds its loss."""

    images: Shape  # with the batch
    optimizer: Optimizer
    layers: tuple[Layer, ...]


def programme_of(drawn: Drawn) -> Programme:
    """Built as a user would; NetdynoError where what is left of a network makes no sense."""
    net = Net(batch=drawn.images[0], classes=CLASSES, learning_rate=0.01, shape=drawn.images[1:])
    values = [net.images()]
    for layer in drawn.layers:
        values.append(add_layer(net, layer, values))
    classifiers = [number for number, layer in enumerate(drawn.layers, start=1) if layer.op == "classifier"]
    if not classifiers:
        raise NetdynoError("expected a classifier, received none.")
    loss = net.softmax_cross_entropy(values[classifiers[-1]], net.labels)
    for number in classifiers[:-1]:
        loss = net.add(loss, net.scale(net.softmax_cross_entropy(values[number], net.labels), 0.3))
    net.update(loss, _learnt(drawn, classifiers), optimizer=drawn.optimizer)
    programme = net.programme(values[classifiers[-1]])
    check_programme(programme)
    return programme


def add_layer(net: Net, layer: Layer, values: Sequence[Value]) -> Value:
    """The layer that comes after those that gave `values`."""
    name, x = layer.name(len(values)), [values[number] for number in layer.inputs]
    arguments = dict(layer.arguments)
    if "initial" in arguments:
        arguments["initial"] = INITIAL[arguments["initial"]]
    if layer.tied_to and layer.op == "linear":
        arguments["weight"] = net.value(f"linear{layer.tied_to}.weight")
    if layer.tied_to and layer.op == "convolution":
        sides, groups = (arguments["pad"],) * 4, arguments["groups"]
        weight = net.value(f"convolution{layer.tied_to}.weight")
        return net.node("convolution", *x, weight, name=name, strides=(1, 1), padding=sides, groups=groups)
    built: Value = getattr(net, layer.op)(*x, **arguments, name=name)
    return built


def without(drawn: Drawn, dropped: set[int]) -> Drawn:
    """The network without some layers: whoever used one uses its first input."""
    number_of = {0: 0}
    kept: list[Layer] = []
    for number, layer in enumerate(drawn.layers, start=1):
        inputs = tuple(number_of[one] for one in layer.inputs)
        if number in dropped:
            number_of[number] = inputs[0]
            continue
        tied = 0 if layer.tied_to in dropped else number_of[layer.tied_to]
        kept.append(replace(layer, inputs=inputs, tied_to=tied))
        number_of[number] = len(kept)
    return replace(drawn, layers=tuple(kept))


def smaller(drawn: Drawn, at_once: int) -> Iterator[Drawn]:
    """The network without each run of `at_once` layers, last first; those that make no sense are left out."""
    for last in range(len(drawn.layers), 0, -at_once):
        left = without(drawn, set(range(max(1, last - at_once + 1), last + 1)))
        try:
            programme_of(left)
        except NetdynoError:
            continue
        yield left


def _learnt(drawn: Drawn, classifiers: Sequence[int]) -> list[str]:
    """The layers with weights that a loss depends on: nothing can be learnt of those that nobody looks at."""
    used, waiting = set[int](), list(classifiers)
    while waiting:
        number = waiting.pop()
        if number and number not in used:
            used.add(number)
            layer = drawn.layers[number - 1]
            waiting += [*layer.inputs]
            if layer.tied_to:
                used.add(layer.tied_to)
    layers = ((number, drawn.layers[number - 1]) for number in sorted(used))
    return [layer.name(number) for number, layer in layers if layer.has_weights()]
