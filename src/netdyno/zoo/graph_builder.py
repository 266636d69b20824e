"""How a graph is built node by node: values with names used once, shapes and kinds known at once, and updates."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from netdyno.errors import NetdynoError, unknown
from netdyno.graph.check import resolve_kind, resolve_shape
from netdyno.graph.model import Draw, Graph, Input, Node, Optimizer, Parameter, Programme, Shape, Stage, Update

SHORT_NAMES = {"convolution": "conv", "batch_norm": "bn", "local_response_norm": "lrn"}


@dataclass(frozen=True, slots=True)
class Value:
    """A handle on something computed, learnt or fed."""

    name: str
    shape: Shape
    kind: str = "plain"


class GraphBuilder:
    """Collects inputs, parameters, nodes and updates; it knows operations, and no layers.

    `classes` and `shape` are those of the dataset's items, where it has any, and `span` the range of their values,
    if it is not left to the dataset's statistics.
    """

    def __init__(
        self,
        *,
        batch: int,
        classes: int,
        learning_rate: float,
        shape: Shape = (),
        span: tuple[float, float] | None = None,
    ) -> None:
        self.batch = batch
        self.shape = shape
        self.span = span
        self.classes = classes
        self.learning_rate = learning_rate
        self._inputs: dict[str, Input] = {}
        self._parameters: dict[str, Parameter] = {}
        self._nodes: dict[str, Node] = {}
        self._updates: dict[str, Update] = {}
        self._stages: dict[str, str] = {}  # of each update
        self._scope = ""
        self._stage = "train"
        self._draws = 0

    @property
    def labels(self) -> Value:
        """One class number per item; asking for them makes them an input of the network."""
        if "labels" not in self._inputs:
            draw = Draw(kind="integers", low=0.0, high=float(self.classes))
            self._inputs["labels"] = Input(name="labels", shape=(self.batch,), draw=draw, dtype="integer")
        return Value("labels", self._inputs["labels"].shape)

    def input(self, name: str, shape: Shape, draw: Draw, *, kind: str = "plain") -> Value:
        """A value fed from outside; of integers where integers are drawn."""
        name = self._new_name(name)
        dtype = "integer" if draw.kind == "integers" else "float"
        self._inputs[name] = Input(name=name, shape=checked_shape(name, shape), draw=draw, kind=kind, dtype=dtype)
        return Value(name, shape, kind)

    def parameter(
        self, name: str, shape: Shape, initial: Draw, *, trainable: bool = True, kind: str = "plain"
    ) -> Value:
        """A value kept between steps. Layers make their own; one that several nodes share is made by hand."""
        name = self._new_name(name)
        shape = checked_shape(name, shape)
        made = Parameter(name=name, shape=shape, initial=initial, trainable=trainable, kind=kind)
        self._parameters[name] = made
        return Value(name, shape, kind)

    def value(self, name: str) -> Value:
        """An input, parameter or node that was made before, by its whole name: a weight to use again."""
        known: dict[str, Input | Parameter | Node] = {**self._inputs, **self._parameters, **self._nodes}
        if name not in known:
            raise unknown("value", name, known)
        return Value(name, known[name].shape, known[name].kind)

    def node(self, op: str, *inputs: Value, name: str | None = None, **attributes: Any) -> Value:
        """Any operation of the table, with its attributes spelled out; every layer ends here."""
        name = self._new_name(name or self._next(SHORT_NAMES.get(op, op)))
        for value in inputs:
            self._expect_own(name, value)
        shape = resolve_shape(name, op, [value.shape for value in inputs], attributes)
        kind = resolve_kind(name, op, [value.kind for value in inputs], attributes)
        names = tuple(value.name for value in inputs)
        self._nodes[name] = Node(name=name, op=op, inputs=names, shape=shape, kind=kind, attributes=attributes)
        return Value(name, shape, kind)

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Names made inside start with `name` and a dot."""
        outer = self._scope
        self._scope = f"{outer}{name}."
        try:
            yield
        finally:
            self._scope = outer

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Updates made inside are those of a stage; stages run one after the other."""
        outer, self._stage = self._stage, name
        try:
            yield
        finally:
            self._stage = outer

    def update(
        self,
        loss: Value,
        parameters: Sequence[str] | None = None,
        *,
        optimizer: Optimizer | None = None,
        name: str = "train",
    ) -> None:
        """Minimise `loss` over `parameters`: names of parameters, layers or scopes; all if not given.

        The default optimizer is momentum at the learning rate of the case.
        """
        if name in self._updates:
            raise NetdynoError(f"update '{name}': expected a name used once, received it twice.")
        self._stages[name] = self._stage
        self._updates[name] = Update(
            name=name,
            loss=loss.name,
            parameters=self._trainable() if parameters is None else self._named(parameters),
            optimizer=optimizer or Optimizer(kind="momentum", learning_rate=self.learning_rate),
        )

    @property
    def has_updates(self) -> bool:
        return bool(self._updates)

    def programme(self, output: Value | tuple[Value, ...]) -> Programme:
        """The programme so far, with one output or several. A network without updates of its own classifies: its only
        `output` are its logits."""
        outputs = output if isinstance(output, tuple) else (output,)
        if not self._updates and not isinstance(output, tuple):
            self.update(self.node("softmax_cross_entropy", output, self.labels, name="loss"))
        graph = Graph(
            inputs=tuple(self._inputs.values()),
            parameters=tuple(self._parameters.values()),
            nodes=tuple(self._nodes.values()),
            outputs=tuple(value.name for value in outputs),
        )
        names = dict.fromkeys(self._stages.values())
        stages = [Stage(name=name, updates=tuple(self._of_stage(name))) for name in names]
        return Programme(graph=graph, stages=tuple(stages))

    def _of_stage(self, stage: str) -> list[Update]:
        return [update for name, update in self._updates.items() if self._stages[name] == stage]

    def _trainable(self) -> tuple[str, ...]:
        return tuple(name for name, parameter in self._parameters.items() if parameter.trainable)

    def _named(self, groups: Sequence[str]) -> tuple[str, ...]:
        trainable = self._trainable()
        for group in groups:
            if not any(f"{name}.".startswith(f"{group}.") for name in trainable):
                raise unknown("parameter, layer or scope", group, trainable)
        return tuple(name for name in trainable if any(f"{name}.".startswith(f"{group}.") for group in groups))

    def _seed(self) -> int:
        self._draws += 1
        return self._draws

    def _known(self, name: str) -> bool:
        return name in self._inputs or name in self._parameters or name in self._nodes

    def _new_name(self, name: str) -> str:
        name = self._scope + name
        if self._known(name):
            raise NetdynoError(f"'{name}': expected a name used once, received it twice.")
        return name

    def _next(self, short: str) -> str:
        """The first free numbered name, without its scope."""
        number = 1
        while self._known(f"{self._scope}{short}{number}"):
            number += 1
        return f"{short}{number}"

    def _expect_own(self, name: str, value: object) -> None:
        if not isinstance(value, Value) or not self._known(value.name):
            raise NetdynoError(f"node '{name}': expected values of this network, received {value!r}.")


def checked_shape(name: str, shape: Shape) -> Shape:
    """A whole number may arrive as text or as a float from someone's own recipe."""
    if not all(isinstance(side, int) and side > 0 for side in shape):
        raise NetdynoError(f"'{name}': expected a shape of whole numbers over 0, received {list(shape)}.")
    return tuple(shape)
