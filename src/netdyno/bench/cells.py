"""From the fields that a user named to a whole cell: defaults filled in, impossible ones refused with a reason."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError, unknown
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.graph.model import Programme
from netdyno.results.cell import FIELDS, Cell
from netdyno.zoo.catalog import Entry, find_entry, resolve
from netdyno.zoo.custom import load_network
from netdyno.zoo.items import find_items

DEFAULT_CUSTOM_DATASET = "cifar10"
FASTEST = "fastest"  # whichever execution is found to be so
CHECKED = ("network", "dataset", "framework", "device", "batch", "precision", "execution", "data", "threads")

Fields = Mapping[str, Any]
"""Some fields of a cell, as a user wrote them; the rest are defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What defaults depend on: the cores to compute on, the folder that paths start from, a framework."""

    threads: int
    folder: Path
    framework: str  # where none is named

    def complete(self, fields: Fields) -> Cell:
        """The cell with these fields; the others are the network's, the framework's or the machine's own."""
        for field in fields:
            if field not in FIELDS:
                raise unknown("field of a cell", field, FIELDS)
        network, dataset = _split(fields)
        entry = self.entry(network, dataset)
        spec = find_spec(_text(fields, "framework", self.framework))
        cell = Cell(
            network=network,
            dataset=entry.dataset,
            framework=spec.name,
            device=_text(fields, "device", "cpu"),
            batch=fields.get("batch", entry.batch),
            precision=_text(fields, "precision", "float32"),
            execution=_text(fields, "execution", spec.executions[0]),
            data=_text(fields, "data", "synthetic"),
            threads=fields.get("threads", self.threads),
            **{name: value for name, value in fields.items() if name not in CHECKED},
        )
        _refuse_unsupported(cell, spec)
        return cell

    def entry(self, network: str, dataset: str | None) -> Entry:
        """The zoo's entry, or the user's own network from `path/to/file.py:name`."""
        if ".py:" in network:
            return load_network(str(self.folder / network), find_items(dataset or DEFAULT_CUSTOM_DATASET))
        return find_entry(network, dataset)

    def entry_of(self, cell: Cell) -> Entry:
        """The entry of a cell's network."""
        return self.entry(cell.network, cell.dataset)

    def programme(self, cell: Cell) -> Programme:
        """What the cell computes."""
        return resolve(self.entry_of(cell), cell.batch)


def read_options(words: Iterable[str]) -> dict[str, int | float | str]:
    """A network's options from words such as `hidden=512`; a value that is a number becomes one."""
    found: dict[str, int | float | str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name.isidentifier() and equals and value) or name in found:
            raise NetdynoError(f"--set: expected NAME=VALUE, each name once, received '{word}'.")
        found[name] = _number(value)
    return found


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _split(fields: Fields) -> tuple[str, str | None]:
    """`lenet/mnist` is a network and its dataset."""
    network = _text(fields, "network", "")
    dataset = _text(fields, "dataset", "") or None
    if not network:
        raise NetdynoError("a cell: expected a network, received none.", hint="See: netdyno networks")
    if "/" not in network or ".py:" in network:
        return network, dataset
    if dataset:
        raise NetdynoError(f"expected one dataset, received '{dataset}' beside '{network}'.")
    name, _, dataset = network.partition("/")
    return name, dataset


def _text(fields: Fields, field: str, default: str) -> str:
    value: Any = fields.get(field, default)
    if not isinstance(value, str):
        raise NetdynoError(f"{field}: expected a name, received {value!r}.")
    return value


def _refuse_unsupported(cell: Cell, spec: Spec) -> None:
    """What the framework's own spec rules out is the user's mistake, not an outcome."""
    for field, possible in (
        ("device", spec.devices),
        ("execution", (*spec.executions_on(cell.device), FASTEST)),
        ("precision", spec.precisions),
    ):
        value = getattr(cell, field)
        if value not in possible:
            raise NetdynoError(
                f"{spec.name} has no {field} '{value}': expected one of {', '.join(possible)}.",
                hint=f"See: netdyno frameworks. {spec.note}",
            )
