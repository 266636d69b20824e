"""Which part of a store is meant: results and records that a selector names, read a few at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from netdyno.results.cell import Cell
from netdyno.results.proof import CASE_FIELDS, Proof
from netdyno.results.record import Record
from netdyno.results.result import Result, results_of
from netdyno.results.selectors import select
from netdyno.results.store import Store
from netdyno.results.store.bulk import figure_names, graphs_of, runs_by_cell


@dataclass(slots=True)
class Seen:
    """What was exported so far, as far as proofs and graphs are concerned."""

    cases: set[tuple[str, ...]] = field(default_factory=set)  # machine and CASE_FIELDS
    identities: set[str] = field(default_factory=set)
    digests: set[str] = field(default_factory=set)

    def add(self, record: Record) -> None:
        self.cases.add((record.machine, *(getattr(record.cell, name) for name in CASE_FIELDS)))
        self.identities.add(record.graph_identity)
        self.digests.add(record.graph_digest)

    def has(self, proof: Proof) -> bool:
        by_name = (proof.machine, *(getattr(proof, name) for name in CASE_FIELDS)) in self.cases
        return by_name or (bool(proof.graph_identity) and proof.graph_identity in self.identities)


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

    def figure_names(self) -> list[str]:
        """The figures that any run of the store has, in the order in which they are met."""
        return figure_names(self.store)

    def proofs(self, seen: Seen) -> list[Proof]:
        """Those of the networks and frameworks that were seen; all of them where nothing is left out."""
        return [proof for proof in self.store.proofs() if not self.selector or seen.has(proof)]

    def graphs(self, seen: Seen) -> Iterator[tuple[str, str]]:
        """The digests and wire forms of the graphs that were seen."""
        return graphs_of(self.store, sorted(seen.digests))

    def _results(self, *, whole: bool) -> Iterator[Result]:
        for _, runs in groupby(self._records(whole=whole), key=_owner):
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


def _owner(record: Record) -> tuple[Cell, str]:
    return record.cell, record.machine
