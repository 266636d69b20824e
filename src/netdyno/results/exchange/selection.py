"""Which part of a store is meant: results and records that a selector names, read a few at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

from netdyno.errors import NetdynoError
from netdyno.results.cell import Cell
from netdyno.results.proof import CASE_FIELDS, Proof
from netdyno.results.record import Record
from netdyno.results.result import Result, results_of
from netdyno.results.selectors import Wanted, beyond_columns, columns_of, matches, nothing_named, parsed
from netdyno.results.store import Store
from netdyno.results.store.bulk import figure_names, graphs_of, ids_of, known_values, runs_by_cell, series_count


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

    def results(self, *, whole: bool = False) -> Iterator[Result]:
        """In the order of cells; the runs of one cell are in memory at a time, without warm-up and trace unless they
        are to be `whole`."""
        for _, runs in groupby(self._records(whole=whole), key=_owner):
            yield from results_of(runs, every_series=self._has_every_series)

    def records(self) -> Iterator[Record]:
        """The runs of every series: a record is never left out because a newer one exists."""
        return self._records(whole=True)

    def ids(self) -> list[str]:
        """Of the runs of every series, also of those that cannot be read where columns alone decide."""
        if beyond_columns(self._wanted):
            return [record.id for record in self._records(whole=False)]
        return ids_of(self.store, columns_of(self._wanted))

    def count(self) -> int:
        """How many results there are."""
        if beyond_columns(self._wanted):
            return sum(1 for _ in self.results())
        return series_count(self.store, columns_of(self._wanted), newest=not self._has_every_series)

    def nothing(self) -> NetdynoError:
        """Why there is none: what of the selector no run has."""
        return nothing_named(self.selector, partial(known_values, self.store))

    def figure_names(self) -> list[str]:
        """The figures that any run of the store has, in the order in which they are met."""
        return figure_names(self.store)

    def proofs(self, seen: Seen) -> list[Proof]:
        """Those of the networks and frameworks that were seen; all of them where nothing is left out."""
        return [proof for proof in self.store.proofs() if not self.selector or seen.has(proof)]

    def graphs(self, seen: Seen) -> Iterator[tuple[str, str]]:
        """The digests and wire forms of the graphs that were seen."""
        return graphs_of(self.store, sorted(seen.digests))

    @property
    def _wanted(self) -> Wanted:
        return parsed(self.selector) if self.selector else {}

    @property
    def _has_every_series(self) -> bool:
        return self.every_series or "series" in self._wanted

    def _records(self, *, whole: bool) -> Iterator[Record]:
        wanted = self._wanted
        rest = beyond_columns(wanted)
        for record in runs_by_cell(self.store, where=columns_of(wanted), whole=whole):
            self.notice()
            if matches(record, rest):
                yield record


def _owner(record: Record) -> tuple[Cell, str]:
    return record.cell, record.machine
