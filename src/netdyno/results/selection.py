"""Which part of a store is meant: results and records that a selector names, read a few at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from netdyno.results.bulk import runs_by_cell
from netdyno.results.cell import Cell
from netdyno.results.compare_selectors import names, select
from netdyno.results.course import Course
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.result import Result, results_of
from netdyno.results.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """All of a store, or what a selector such as `network=lenet` names. `notice` is called for each record read."""

    store: Store
    selector: str = ""
    every_series: bool = False  # also those that a newer one replaced
    notice: Callable[[], None] = lambda: None

    def results(self) -> Iterator[Result]:
        """In the order of cells; the runs of one cell are in memory at a time, without warm-up and trace."""
        return self._results(whole=False)

    def records(self) -> Iterator[Record]:
        """The runs of every series: a record is never left out because a newer one exists."""
        if not self.selector:
            yield from self._records(whole=True)
            return
        for result in replace(self, every_series=True)._results(whole=True):
            yield from result.records

    def courses(self) -> list[Course]:
        """Those that the selector names."""
        return [course for course in self.store.courses() if not self.selector or names(self.selector, course)]

    def proofs(self, cells: "CellsSeen") -> list[Proof]:
        """Those of the networks and frameworks that were seen; all of them where nothing is left out."""
        return [proof for proof in self.store.proofs() if not self.selector or cells.has(proof)]

    def _results(self, *, whole: bool) -> Iterator[Result]:
        for _, runs in groupby(self._records(whole=whole), key=_where):
            found = results_of(runs, every_series=self.every_series or bool(self.selector))
            yield from self._chosen(found)

    def _records(self, *, whole: bool) -> Iterator[Record]:
        for record in runs_by_cell(self.store, whole=whole):
            self.notice()
            yield record

    def _chosen(self, found: list[Result]) -> list[Result]:
        if not self.selector:
            return found
        if not self.every_series:
            return select(found, self.selector)
        return [result for each in found for result in select([each], self.selector)]


class CellsSeen:
    """What was exported so far, as far as a proof cares: machine, framework, network, dataset, device, precision."""

    NAMES = ("framework", "network", "dataset", "device", "precision")

    def __init__(self) -> None:
        self._seen: set[tuple[str, ...]] = set()

    def add(self, cell: Cell, machine: str) -> None:
        self._seen.add((machine, *(getattr(cell, name) for name in self.NAMES)))

    def has(self, proof: Proof) -> bool:
        return (proof.machine, *(getattr(proof, name) for name in self.NAMES)) in self._seen


def _where(record: Record) -> tuple[Cell, str]:
    return record.cell, record.machine
