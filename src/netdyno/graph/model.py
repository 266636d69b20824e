"""What a network is: frozen values with every shape and convention spelled out, nothing left to a default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How values are drawn by name and seed; a uniform draw of zero width is a constant."""

    # "uniform" and "integers" lie in [low, high); "normal" has mean 0 and deviation 1. In row r and column c, "band"
    # is 1 where c − r lies in [low, high] and 0 elsewhere, over the first two axes; "causal" is `high` where c ≤ r
    # and `low` elsewhere, over the last two.
    kind: str
    low: float = 0.0
    high: float = 1.0


def constant(value: float) -> Draw:
    """A draw that always gives `value`."""
    return Draw(kind="uniform", low=value, high=value)


def uniform_within(limit: float) -> Draw:
    """A uniform draw between −limit and limit."""
    return Draw(kind="uniform", low=-limit, high=limit)


def causal_mask() -> Draw:
    """What is added to scores so that a softmax over columns sees none after its row."""
    return Draw(kind="causal", low=-1e9, high=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A value fed from outside; `draw` says how its synthetic form is made."""

    name: str
    shape: Shape
    draw: Draw
    kind: str = "plain"  # "image", "sequence" or "plain": what its axes mean
    dtype: str = "float"  # or "integer": labels, tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A value kept between steps: learnt if `trainable`, else state such as running statistics, or a constant."""

    name: str
    shape: Shape
    initial: Draw
    trainable: bool = True
    kind: str = "plain"  # or "kernel", the weight of a convolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One operation. `inputs` name earlier values: inputs, parameters or nodes, in the op's order."""

    name: str
    op: str
    inputs: tuple[str, ...]
    shape: Shape
    kind: str = "plain"  # as the op's rule gives it
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A network resolved for one dataset and batch: nodes in an order in which they can be computed."""

    inputs: tuple[Input, ...]
    parameters: tuple[Parameter, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]

    def values(self) -> list["Input | Parameter | Node"]:
        """Everything that has a name and a shape: inputs, parameters, then nodes in order."""
        return [*self.leaves(), *self.nodes]

    def leaves(self) -> list["Input | Parameter"]:
        """What nodes start from: inputs, then parameters."""
        return [*self.inputs, *self.parameters]

    def shapes(self) -> dict[str, Shape]:
        """The shape of every value by name."""
        return {value.name: value.shape for value in self.values()}

    def parameter_count(self) -> int:
        """How many numbers are learnt; running statistics are not."""
        return sum(prod(p.shape) for p in self.parameters if p.trainable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimizer:
    """How a gradient g moves a parameter p.

    sgd: p ← p − ηg. momentum: v ← μv + g, p ← p − ηv. adam: bias-corrected moments, ε outside the root.
    """

    kind: str
    learning_rate: float
    momentum: float = 0.9
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One learning step: minimise `loss` over `parameters` with `optimizer`."""

    name: str
    loss: str
    parameters: tuple[str, ...]
    optimizer: Optimizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A phase of a programme: each of its steps makes `updates` in order."""

    name: str
    updates: tuple[Update, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Programme:
    """What is done with a graph: stages, one after the other; none for inference."""

    graph: Graph
    stages: tuple[Stage, ...] = ()

    def updates(self) -> list[Update]:
        """The updates of all stages, in order."""
        return [update for stage in self.stages for update in stage.updates]
