"""From the fields that a user named to a whole cell: defaults filled in, impossible ones refused with a reason."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netdyno.bench.fields import checked_count, checked_text, split_name
from netdyno.bench.goals import learnt_fields
from netdyno.errors import NetdynoError, unknown
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.graph.model import Programme
from netdyno.results.cell import Cell
from netdyno.text import shown
from netdyno.workloads import find_workload
from netdyno.workloads.goal import goal_of
from netdyno.workloads.learn import check_goal
from netdyno.workloads.workload import SYNTHETIC
from netdyno.zoo.catalog import Entry, Recipe, entries, find_entry, resolve
from netdyno.zoo.custom import load_network, network_of
from netdyno.zoo.items import find_items
from netdyno.zoo.options import Option, checked_options, parsed_options

DEFAULT_CUSTOM_DATASET = "cifar10"
LARGEST_OPTION = 2**31 - 1
FASTEST = "fastest"  # whichever execution is found to be so
NAMED = (
    "workload", "network", "options", "dataset", "goal", "source", "framework", "batch", "precision", "execution",
    "data", "device", "threads",
)  # fmt: skip

Fields = Mapping[str, Any]
"""Some of the fields NAMED, as a user wrote them; the rest are defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What defaults depend on: the cores to compute on, the folder that paths start from, a framework.

    It remembers networks from a user's files, which cells name by their function, and what it has resolved.
    """

    threads: int
    folder: Path
    framework: str  # where none is named
    own: dict[str, str | Recipe] = field(default_factory=dict)  # a user's network → path/to/file.py:function, or it
    _specs: dict[str, Spec] = field(default_factory=dict)
    _entries: dict[tuple[str, str | None], Entry] = field(default_factory=dict)
    _programmes: dict[tuple[object, ...], Programme] = field(default_factory=dict)

    def complete(self, fields: Fields) -> Cell:
        """The cell with these fields; the others are the network's, the framework's or the machine's own."""
        for name in fields:
            if name not in NAMED:
                raise unknown("field of a cell", name, NAMED)
        workload = find_workload(_text(fields, "workload", "train"))
        learnt = learnt_fields(workload, fields)
        entry = self.entry(*_split({**fields, **learnt}))
        spec = self._spec(_text(fields, "framework", self.framework))
        cell = Cell(
            workload=workload.name,
            network=entry.network,
            options=_options(entry, fields.get("options", {})),
            dataset=entry.dataset,
            goal=learnt.get("goal", ""),
            source=learnt.get("source", entry.dataset if workload.has_goal else ""),
            framework=spec.name,
            device=_text(fields, "device", "cpu"),
            batch=checked_count("batch", fields.get("batch", entry.batch)),
            precision=_text(fields, "precision", "float32"),
            execution=_text(fields, "execution", spec.executions[0]),
            data=_text({**fields, **learnt}, "data", SYNTHETIC),
            threads=checked_count("threads", fields.get("threads", self.threads)),
        )
        _refuse_unsupported(cell, spec)
        if goal_of(cell.goal).accuracy is not None:  # only then is its graph needed
            check_goal(cell, self.programme(cell))
        return cell

    def entry(self, network: str, dataset: str | None) -> Entry:
        """The zoo's entry, or the user's own network from `path/to/file.py:name`."""
        known = self._entries.get((network, dataset))
        if known is None:
            known = self._own(network, dataset) if ".py:" in network or network in self.own else None
            known = known or find_entry(network, dataset)
            self._entries[network, dataset] = known
        return known

    def entry_of(self, cell: Cell) -> Entry:
        """The entry of a cell's network."""
        return self.entry(cell.network, cell.dataset)

    def programme(self, cell: Cell) -> Programme:
        """What the cell computes."""
        key = (cell.network, cell.dataset, cell.options, cell.batch)
        if key not in self._programmes:
            self._programmes[key] = resolve(self.entry_of(cell), cell.batch, dict(cell.options))
        return self._programmes[key]

    def _spec(self, name: str) -> Spec:
        if name not in self._specs:
            self._specs[name] = find_spec(name)
        return self._specs[name]

    def _own(self, network: str, dataset: str | None) -> Entry:
        reference, items = self.own.get(network, network), find_items(dataset or DEFAULT_CUSTOM_DATASET)
        if isinstance(reference, str):
            entry = load_network(str(self.folder / reference), items)
        else:
            entry = network_of(reference, network, Path(inspect.getfile(reference)), items)
        if entry.network in {known.network for known in entries()}:
            message = f"{network}: expected a name that is not in the zoo, received '{entry.network}'."
            raise NetdynoError(message, hint="Rename the function: results are stored by its name.")
        self.own[entry.network] = reference
        return entry


def _options(entry: Entry, given: object) -> tuple[tuple[str, Option], ...]:
    """The options that differ from their defaults: a table of a suite, or words such as `hidden=512`."""
    if isinstance(given, Mapping):
        checked_options(entry.network, entry.options, given)
        found = dict(given)
    elif isinstance(given, list):
        found = parsed_options(entry.network, entry.options, given)
    else:
        raise NetdynoError(f"options: expected a table such as {{hidden = 512}}, received {shown(given)}.")
    for name, value in found.items():
        _check_option(name, value)
    return tuple(sorted((name, value) for name, value in found.items() if value != entry.options[name]))


def _check_option(name: str, value: Option) -> None:
    if isinstance(value, str):
        checked_text(name, value)
    elif not abs(value) <= LARGEST_OPTION:  # nor is NaN
        raise NetdynoError(f"{name}: expected a number of at most {LARGEST_OPTION:,}, received {shown(value)}.")


def _split(fields: Fields) -> tuple[str, str | None]:
    """`lenet/mnist` is a network and its dataset."""
    network = _text(fields, "network", "")
    dataset = _text(fields, "dataset", "") or None
    if not network:
        raise NetdynoError("a cell: expected a network, received none.", hint="See: netdyno networks")
    return split_name(network, dataset)


def _text(fields: Fields, field: str, default: str) -> str:
    return checked_text(field, fields.get(field, default))


def _refuse_unsupported(cell: Cell, spec: Spec) -> None:
    """What the framework's own spec rules out is the user's mistake, not an outcome."""
    for name, possible in (
        ("device", spec.devices),
        ("execution", (*spec.executions_on(cell.device), FASTEST)),
        ("precision", spec.precisions),
    ):
        value = getattr(cell, name)
        if value not in possible:
            raise NetdynoError(
                f"{spec.name} has no {name} '{value}': expected one of {', '.join(possible)}.",
                hint=f"See: netdyno frameworks. {spec.note}",
            )
