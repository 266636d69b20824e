"""What is known of an operation: its inputs and attributes, the rules for shape, kind and FLOPs, and facts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netdyno.graph import flops
from netdyno.graph.shapes import ShapeRule

Check = Callable[[Any], bool]
KindRule = Callable[[Sequence[str], Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """What an attribute must be, in words and as a check."""

    meaning: str
    holds: Check
    optional: bool = False  # left out where an op's rule says what that means


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One row of the table.

    `inputs` are roles; a trailing `?` marks an optional last one, a trailing `*` any number of one or more.
    `keeps` are the roles (or "output") whose values the backward pass needs.
    """

    inputs: tuple[str, ...]
    shape: ShapeRule
    kind: KindRule
    flops: flops.Rule
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    mask_bytes: int = 0  # per element, kept beside the values: a dropout mask
    weights: tuple[str, ...] = ()  # roles that a layer learns
    state: tuple[str, ...] = ()  # roles that must be non-trainable parameters; steps change them
    integers: tuple[str, ...] = ()  # roles that must be integers
    any_type: bool = False  # takes integers as well, and gives what it takes
    elementwise: bool = False
    view: bool = False  # passes values on without reading or writing them
    picks: bool = False  # reads no more of its first input than it writes
    moves_batch: bool = False  # the first axis of its value need not be the batch
    blocks_gradient: bool = False
    random: bool = False
    loss: bool = False
    composite: bool = False  # has a decomposition into primitives in `lower`

    def roles(self) -> tuple[str, ...]:
        """The roles without their marks; the last one repeats where there may be any number."""
        return tuple(role.rstrip("?*") for role in self.inputs)

    def facts(self) -> "Facts":
        """What an adapter may want to know of the op without a list of names."""
        return Facts(
            roles=self.roles(),
            weights=self.weights,
            state=self.state,
            elementwise=self.elementwise,
            blocks_gradient=self.blocks_gradient,
            random=self.random,
            loss=self.loss,
        )

    def arity(self) -> tuple[int, int | None]:
        """The fewest and the most inputs; None means no limit."""
        if self.inputs and self.inputs[-1].endswith("*"):
            return len(self.inputs), None
        optional = sum(role.endswith("?") for role in self.inputs)
        return len(self.inputs) - optional, len(self.inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What travels with a graph about each op in it."""

    roles: tuple[str, ...]
    weights: tuple[str, ...]
    state: tuple[str, ...]
    elementwise: bool
    blocks_gradient: bool
    random: bool
    loss: bool
