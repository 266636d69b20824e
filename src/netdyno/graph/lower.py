"""How composite operations become primitives: one decomposition each, for frameworks without a kernel of their own.

The last primitive keeps the composite's name, so that whoever reads it need not know; inner ones are `name.part`.
Parameters that a decomposition adds are constants: no update and no step changes them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.graph.check import resolve_kind, resolve_shape
from netdyno.graph.model import Draw, Input, Node, Parameter, Programme, Shape, constant
from netdyno.graph.ops import OPS


def lowered(programme: Programme, fused: frozenset[str]) -> Programme:
    """The programme with every composite op that is not in `fused` written in primitives."""
    graph = programme.graph
    known: dict[str, Input | Parameter | Node] = {value.name: value for value in graph.leaves()}
    taken = {value.name for value in graph.values()}
    nodes: list[Node] = []
    constants: list[Parameter] = []
    for node in graph.nodes:
        made = [node]
        if OPS[node.op].composite and node.op not in fused:
            parts = Parts(node, known, taken)
            DECOMPOSITIONS[node.op](parts, *node.inputs, **node.attributes)
            made = parts.nodes
            constants += parts.constants
        nodes += made
        known.update({each.name: each for each in made})
    return replace(programme, graph=replace(graph, nodes=tuple(nodes), parameters=(*graph.parameters, *constants)))


class Parts:
    """What one composite node becomes. A rule adds primitives in order, and ends with `last`."""

    def __init__(self, node: Node, known: Mapping[str, Input | Parameter | Node], taken: set[str]) -> None:
        self.nodes: list[Node] = []
        self.constants: list[Parameter] = []
        self._node = node
        self._known = dict(known)
        self._taken = taken

    def shape(self, name: str) -> Shape:
        return self._known[name].shape

    def add(self, part: str, op: str, *inputs: str, **attributes: Any) -> str:
        """An inner primitive; returns its name."""
        return self._made(self._inner(part), op, inputs, attributes)

    def last(self, op: str, *inputs: str, **attributes: Any) -> None:
        """The primitive that gives the composite's value."""
        self._made(self._node.name, op, inputs, attributes)

    def constant(self, part: str, shape: Shape, initial: Draw, *, kind: str = "plain") -> str:
        """A parameter that nothing changes; returns its name."""
        made = Parameter(name=self._inner(part), shape=shape, initial=initial, trainable=False, kind=kind)
        self._known[made.name] = made
        self.constants.append(made)
        return made.name

    def _made(self, name: str, op: str, inputs: tuple[str, ...], attributes: Mapping[str, Any]) -> str:
        values = [self._known[each] for each in inputs]
        shape = resolve_shape(name, op, [value.shape for value in values], attributes)
        kind = resolve_kind(name, op, [value.kind for value in values], attributes)
        made = Node(name=name, op=op, inputs=inputs, shape=shape, kind=kind, attributes=attributes)
        self._known[name] = made
        self.nodes.append(made)
        return name

    def _inner(self, part: str) -> str:
        name = f"{self._node.name}.{part}"
        if name in self._taken:
            raise NetdynoError(
                f"'{name}': expected a name free for a part of '{self._node.name}', received it in use."
            )
        self._taken.add(name)
        return name


def _global_mean_pool(parts: Parts, x: str) -> None:
    size = parts.shape(x)[2:]
    mean = parts.add("mean", "mean_pool", x, kernel=size, strides=(1, 1), padding=(0, 0, 0, 0))
    parts.last("flatten", mean)


def _local_response_norm(parts: Parts, x: str, *, size: int, alpha: float, beta: float, k: float) -> None:
    """x / (k + α/n Σx²)^β as x · k^−β · (1 + α/(nk) Σx²)^−β: constants that are small whole numbers are exact in
    every precision. The sum over neighbouring channels is a 1×1 convolution with a band of ones."""
    channels, half = parts.shape(x)[1], size // 2
    square = parts.add("square", "multiply", x, x)
    share = parts.add("share", "scale", square, factor=alpha / (size * k))
    band = Draw(kind="band", low=float(-half), high=float(half))
    neighbours = parts.constant("neighbours", (channels, channels, 1, 1), band, kind="kernel")
    one = parts.constant("one", (channels,), constant(1.0))
    still = {"strides": (1, 1), "padding": (0, 0, 0, 0), "groups": 1}
    base = parts.add("base", "convolution", share, neighbours, one, **still)
    power = parts.add("power", "power", base, exponent=-beta)
    divisor = parts.add("factor", "scale", power, factor=k**-beta)
    parts.last("multiply", x, divisor)


def _silu(parts: Parts, x: str) -> None:
    parts.last("multiply", x, parts.add("gate", "sigmoid", x))


# By op; each is given the node's inputs and attributes.
DECOMPOSITIONS: Mapping[str, Callable[..., None]] = {
    "global_mean_pool": _global_mean_pool,
    "local_response_norm": _local_response_norm,
    "silu": _silu,
}
