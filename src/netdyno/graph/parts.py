"""What one composite node becomes: primitives in order, named after it, and constants."""

from collections.abc import Callable, Mapping
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.graph.check import resolve_kind, resolve_shape
from netdyno.graph.model import Draw, Input, Node, Parameter, Shape, constant

# Writes one composite node in primitives: given its parts, inputs and attributes.
Rule = Callable[..., None]


class Parts:
    """A rule adds primitives in order, and ends with `last`."""

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

    def one_like(self, x: str, value: float) -> str:
        """A constant that meets `x` in every framework: as many axes, each of length 1, and its kind."""
        kind = self._known[x].kind
        return self.constant(
            f"constant{len(self.constants) + 1}", (1,) * len(self.shape(x)), constant(value), kind=kind
        )

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
