"""What a report reads of the zoo: the family of a network, the order of families, the usual options."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

from netdyno.report.names import OWN_NETWORK
from netdyno.results.cell import Cell
from netdyno.zoo.catalog import entries
from netdyno.zoo.entry import (
    CNN,
    DEEP,
    GENERATIVE,
    INSTRUMENT,
    MLP,
    RECURRENT,
    SEGMENTATION,
    SHALLOW,
    TRANSFORMER,
    TREE,
)
from netdyno.zoo.options import Option

OWN, OTHER = "own", "other"
TITLES = {
    CNN: "Convolutional",
    SEGMENTATION: "Segmentation",
    RECURRENT: "Recurrent",
    TRANSFORMER: "Transformers",
    TREE: "Trees",
    GENERATIVE: "Generative",
    SHALLOW: "Shallow",
    DEEP: "Deep belief",
    MLP: "Fully connected",
    INSTRUMENT: "Instruments",
    OWN: "Your own",
    OTHER: "Other",
}
T = TypeVar("T")


def family_of(network: str) -> str:
    """The zoo's. Networks of users are stored by the name of their function, and once were by the path to it."""
    is_own = network.isidentifier() or OWN_NETWORK.fullmatch(network)
    return _of_the_zoo().get(network) or (OWN if is_own else OTHER)


def usual_options(cell: Cell) -> dict[str, Option]:
    """The options of a network of the zoo as they are where nothing is said; none of one that it does not have."""
    found = [entry for entry in entries() if (entry.network, entry.dataset) == (cell.network, cell.dataset)]
    return found[0].options if found else {}


def by_options(cell: Cell) -> tuple[object, ...]:
    """A key for sorting: frameworks by name, in each the options by their numbers, so that 196 comes before 1568."""
    values = ((name, 0.0, value) if isinstance(value, str) else (name, value, "") for name, value in cell.options)
    return cell.framework, cell.execution, tuple(values)


def by_family(things: Iterable[T], network: Callable[[T], str]) -> dict[str, list[T]]:
    """The things under each family's title, families in their order, in each the things in theirs."""
    found: dict[str, list[T]] = {}
    for thing in things:
        found.setdefault(family_of(network(thing)), []).append(thing)
    return {title: found[family] for family, title in TITLES.items() if family in found}


@cache
def _of_the_zoo() -> dict[str, str]:
    return {entry.network: entry.family for entry in entries()}
