"""How another machine's export comes into a store: checked, compared with what is there, then all of it or nothing.

Nothing in a file is trusted: names and texts are data, and no path in it is opened.
"""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.results.exchange.check import Graph, checked
from netdyno.results.exchange.lines import encoded, plain_of
from netdyno.results.exchange.reading import EXPORT_HINT, read_export
from netdyno.results.exchange.renumber import Numbering, Place
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.store import Store, bulk
from netdyno.results.store.rows import from_row, proof_to_row, row_of_checked


@dataclass(slots=True, kw_only=True)
class Merged:
    """What came in, and how much of it was there already."""

    new: dict[str, int] = field(default_factory=lambda: dict.fromkeys(bulk.TABLES, 0))
    known: dict[str, int] = field(default_factory=lambda: dict.fromkeys(bulk.TABLES, 0))
    machines: set[str] = field(default_factory=set)
    moved: int = 0  # series that got another number, because the store has others under theirs


def merge(store: Store, paths: Sequence[Path], notice: Callable[[], None] = lambda: None) -> Merged:
    """Bring the exports in `paths` into the store, all of them or nothing; `notice` is called for each part read."""
    with bulk.staging(store) as stage:
        intake = _Intake(store, stage)
        for path in paths:
            with _named(path):
                intake.take(path, notice)
        intake.end()
        stage.let_in()
    return intake.merged


class _Intake:
    """Separates what is new in the files from what is known, and keeps the new on the stage."""

    def __init__(self, store: Store, stage: bulk.Stage) -> None:
        self._store = store
        self._stage = stage
        self._seen: dict[str, tuple[bytes, Place]] = {}  # what each id stood for and where, in these files
        self._kept_proofs = {_key(proof): proof for proof in store.proofs()}
        self._proofs: dict[tuple[str, ...], Proof] = {}
        self._graphs: dict[str, bool] = {}  # by digest: whether it is new
        self._waiting: list[Record] = []  # not looked up yet
        self._numbering = Numbering(bulk.taken_series(store))
        self.merged = Merged()

    def take(self, path: Path, notice: Callable[[], None]) -> None:
        """Everything in a file."""
        for found in read_export(path):
            notice()
            if isinstance(found.part, Record):
                self._accept_record(found.part, found.place)
            elif isinstance(found.part, Proof):
                self._accept_proof(found.part)
            elif isinstance(found.part, Graph):
                self._accept_graph(found.part)
        self._look_up()
        which = self._numbering.file
        moves = self._numbering.end_file()
        self._stage.move(moves, which)
        self.merged.moved += len(moves)

    def end(self) -> None:
        """Nothing more will come."""
        self._stage.add("proofs", [proof_to_row(proof) for proof in self._proofs.values()])
        self.merged.new["proofs"] = len(self._proofs)

    def _accept_record(self, record: Record, place: str) -> None:
        self.merged.machines.add(record.machine)
        content, here = _content(record), Place(self._numbering.file, record.series)
        known, before = self._seen.setdefault(record.id, (content, here))
        if before is here:
            self._waiting.append(record)
        elif known == content:
            self.merged.known["records"] += 1
            self._numbering.see_again((record.machine, record.cell.key()), record.series, before)
        else:
            raise NetdynoError(f"{place}: {record.id} is in these files twice, with other content.")
        if len(self._waiting) >= bulk.AT_A_TIME:
            self._look_up()

    def _accept_proof(self, proof: Proof) -> None:
        """The newer of two proofs of the same counts."""
        self.merged.machines.add(proof.machine)
        kept = self._proofs.get(_key(proof)) or self._kept_proofs.get(_key(proof))
        if kept is not None and kept.proved_at >= proof.proved_at:
            self.merged.known["proofs"] += 1
        else:
            self._proofs[_key(proof)] = proof

    def _accept_graph(self, graph: Graph) -> None:
        """The first graph of a digest counts: a digest stands for one content."""
        is_new = graph.digest not in self._graphs and self._store.find_graph(graph.digest) is None
        self._graphs.setdefault(graph.digest, is_new)
        if is_new:
            self._stage.add("graphs", [{"digest": graph.digest, "wire": graph.wire}])
        (self.merged.new if is_new else self.merged.known)["graphs"] += 1

    def _look_up(self) -> None:
        """Which of those waiting are in the store already; they must have the same content."""
        rows = [row_of_checked(record) for record in self._waiting]
        kept = bulk.rows_with(self._store, [row["id"] for row in rows]) if rows else {}
        for row in rows:
            owner = row["machine"], row["cell_key"]
            if row["id"] not in kept:
                self._numbering.see_new(owner, row["series"])
                continue
            self._numbering.see_kept(owner, row["series"], kept[row["id"]]["series"])
            if not _is_same(kept[row["id"]], row):
                message = f"record {row['id']} is kept already, with other content."
                raise NetdynoError(message, hint="Nothing was imported: one of the two was changed.")
        new = [row for row in rows if row["id"] not in kept]
        self._stage.add_runs(new, self._numbering.file)
        self.merged.new["records"] += len(new)
        self.merged.known["records"] += len(rows) - len(new)
        self._waiting.clear()


def _key(proof: Proof) -> tuple[str, ...]:
    return tuple(str(getattr(proof, column.name)) for column in bulk.TABLES["proofs"].primary_key)


def _is_same(kept: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """As it is, or once what is kept has gone through an export too: that drops what cannot be shown. The number of
    its series is the store's own."""
    row = {**row, "series": kept["series"]}
    if kept == row:
        return True
    exported = checked("record", plain_of(from_row(kept)))
    assert isinstance(exported, Record)
    return repr(row_of_checked(exported)) == repr(row)  # text, because NaN is not equal to itself


def _content(record: Record) -> bytes:
    """A digest of what a record says, whatever number a store gave to its series."""
    plain = plain_of(record)
    del plain["series"]
    return hashlib.sha256(encoded(plain)).digest()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in whatever is wrong with it."""
    try:
        yield
    except NetdynoError as error:
        raise NetdynoError(f"'{path}' cannot be imported: {error.args[0]}", hint=error.hint) from error
    except UnicodeDecodeError as error:
        raise NetdynoError(f"'{path}' cannot be imported: it is not text (UTF-8).", hint=EXPORT_HINT) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        hint = "Copy it again."
        raise NetdynoError(f"'{path}' cannot be unpacked: it is cut or damaged.", hint=hint) from error
    except OSError as error:
        raise NetdynoError(f"'{path}' cannot be read: {(error.strerror or str(error)).lower()}.") from error
