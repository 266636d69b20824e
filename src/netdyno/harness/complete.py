"""From what a user wished to a whole cell: defaults filled in, impossible wishes refused with a reason."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError, unknown
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.graph.model import Training
from netdyno.harness.suite import WISHES, Wish
from netdyno.results.cell import Cell
from netdyno.zoo.catalog import Entry, find_entry, resolve
from netdyno.zoo.custom import load_network
from netdyno.zoo.datasets import find_dataset

DEFAULT_CUSTOM_DATASET = "cifar10"
FASTEST = "fastest"  # whichever execution a short look finds to be so


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a wish is completed with: the cores to compute on, the folder that paths start from, a framework."""

    threads: int
    folder: Path
    framework: str  # where a wish names none

    def complete(self, wish: Wish) -> Cell:
        """The cell that is wished for; what is not said is the network's, the framework's or the machine's own."""
        for field in wish:
            if field not in WISHES:
                raise unknown("field of a cell", field, WISHES)
        network, dataset = _split(wish)
        entry = self.entry(network, dataset)
        spec = find_spec(_text(wish, "framework", self.framework))
        cell = Cell(
            network=network,
            dataset=entry.dataset.name,
            framework=spec.name,
            device=_text(wish, "device", "cpu"),
            batch=wish.get("batch", entry.batch),
            precision=_text(wish, "precision", "float32"),
            execution=_text(wish, "execution", spec.executions[0]),
            data=_text(wish, "data", "synthetic"),
            threads=wish.get("threads", self.threads),
        )
        _refuse_unsupported(cell, spec)
        return cell

    def entry(self, network: str, dataset: str | None) -> Entry:
        """The zoo's entry, or the user's own network from `path/to/file.py:name`."""
        if ".py:" in network:
            return load_network(str(self.folder / network), find_dataset(dataset or DEFAULT_CUSTOM_DATASET))
        return find_entry(network, dataset)

    def training(self, cell: Cell) -> Training:
        """What the cell trains."""
        return resolve(self.entry(cell.network, cell.dataset), cell.batch)


def _split(wish: Wish) -> tuple[str, str | None]:
    """`lenet/mnist` is a network and its dataset."""
    network = _text(wish, "network", "")
    dataset = _text(wish, "dataset", "") or None
    if not network:
        raise NetdynoError("a cell: expected a network, received none.", hint="See: netdyno networks")
    if "/" not in network or ".py:" in network:
        return network, dataset
    if dataset:
        raise NetdynoError(f"expected one dataset, received '{dataset}' beside '{network}'.")
    name, _, dataset = network.partition("/")
    return name, dataset


def _text(wish: Wish, field: str, default: str) -> str:
    value: Any = wish.get(field, default)
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
