"""Which cells a suite leaves out: fields checked like those of its matrix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from netdyno.bench.fields import checked_count, checked_text, split_name
from netdyno.errors import NetdynoError, unknown
from netdyno.frameworks.spec import find_spec
from netdyno.results.cell import CHOICES, Cell
from netdyno.text import shortened, shown
from netdyno.workloads import find_workload
from netdyno.workloads.goal import goal_of
from netdyno.zoo.catalog import find_entry
from netdyno.zoo.items import find_items


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclude:
    """A cell is left out if, of every field, it has one of the values; a network may name its dataset."""

    values: Mapping[str, tuple[Any, ...]]

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Exclude":
        """The table of a file. Raises NetdynoError for what no cell could have."""
        lists = {field: value if isinstance(value, list) else [value] for field, value in table.items()}
        for field, values in lists.items():
            if not values:
                raise NetdynoError(f"exclude.{field}: expected at least one value, received none.")
        return cls(
            values={field: tuple(_checked(field, value) for value in values) for field, values in lists.items()}
        )

    def matches(self, cell: Cell) -> bool:
        return all(any(_has(cell, field, value) for value in values) for field, values in self.values.items())

    def __str__(self) -> str:
        parts = [
            f"{field}={shown(values[0] if len(values) == 1 else values)}" for field, values in self.values.items()
        ]
        return shortened(" ".join(parts) or "an empty table", 200)


def _checked(field: str, value: Any) -> Any:
    if field in CHOICES:
        if checked_text(field, value) not in CHOICES[field]:
            raise unknown(field, value, CHOICES[field])
        return value
    if field in ("batch", "threads"):
        return checked_count(field, value)
    if field == "options":
        if not isinstance(value, Mapping):
            raise NetdynoError(f"options: expected a table such as {{hidden = 512}}, received {shown(value)}.")
        return dict(value)
    if field == "goal":
        return goal_of(checked_text(field, value)).words()
    _NAMES[field](checked_text(field, value))
    return value


def _has(cell: Cell, field: str, value: Any) -> bool:
    if field == "options":
        return bool(dict(cell.options) == value)
    if field != "network":
        return bool(getattr(cell, field) == value)
    network, dataset = split_name(value, None)
    return bool(cell.network == network.rpartition(":")[2]) and dataset in (None, cell.dataset)


def _find_network(value: str) -> None:
    if ".py:" not in value:  # a user's file is read when a cell names it
        find_entry(*split_name(value, None))


_NAMES: Mapping[str, Callable[[str], object]] = {
    "network": _find_network,
    "dataset": find_items,
    "framework": find_spec,
    "workload": find_workload,
    "source": str,
}
