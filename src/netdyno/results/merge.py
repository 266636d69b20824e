"""How another machine's export comes into a store: checked, compared with what is there, then all of it or nothing.

Nothing in a file is trusted: names and texts are data, and no path in it is opened.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from netdyno.errors import NetdynoError
from netdyno.results import bulk, course_rows, rows
from netdyno.results.course import Course
from netdyno.results.json_parts import read_parts
from netdyno.results.plain import FROM_PLAIN, TO_PLAIN
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.renumber import Numbering, Told
from netdyno.results.schema import EXPORT, FORMAT, LISTS, PARTS, SCHEMA_VERSION
from netdyno.results.shape import Unexpected
from netdyno.results.store import Store

MOST = 1_000_000  # elements of a file
SQLITE_START, GZIP_START = b"SQLite format 3\0", b"\x1f\x8b"
HEAD = ("format", "schema_version")
EXPORT_HINT = "Write one with: netdyno results export --format json -o FILE"


@dataclass(slots=True, kw_only=True)
class Merged:
    """What came in, and how much of it was there already."""

    new: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TO_PLAIN, 0))
    known: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TO_PLAIN, 0))
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
    """Tells what is new of the files from what is known, and lets the new wait on the stage."""

    def __init__(self, store: Store, stage: bulk.Stage) -> None:
        self._store = store
        self._stage = stage
        self._seen: dict[str, tuple[bytes, Told]] = {}  # what each id stood for and where, in these files
        self._kept_proofs = {_key(proof): proof for proof in store.proofs()}
        self._proofs: dict[tuple[str, ...], Proof] = {}
        self._waiting: dict[str, list[Record | Course]] = {"records": [], "courses": []}  # not looked up yet
        self._numbering = Numbering(bulk.taken_series(store))
        self.merged = Merged()

    def take(self, path: Path, notice: Callable[[], None]) -> None:
        """Everything in a file."""
        digest, head = hashlib.sha256(), dict[str, Any]()
        with _opened(path) as file:
            for name, number, value in read_parts(file, LISTS):
                notice()
                if number is None:
                    head[name] = _checked_field(name, value)
                    continue
                _check_head(head)
                text = _checked_part(name, number, value)
                if name in FROM_PLAIN:
                    digest.update(text)
                    self._accept(name, f"{name.removesuffix('s')} {number:,}", value, _content(value))
        self._look_up()
        _check_end(head, digest.hexdigest())
        which = self._numbering.file
        moves = self._numbering.end_file()
        self._stage.move(moves, which)
        self.merged.moved += len(moves)

    def end(self) -> None:
        """Nothing more will come."""
        self._stage.add("proofs", [_proof_row(proof) for proof in self._proofs.values()])
        self.merged.new["proofs"] = len(self._proofs)

    def _accept(self, name: str, place: str, value: dict[str, Any], content: bytes) -> None:
        made = FROM_PLAIN[name](value)
        self.merged.machines.add(made.machine)
        if isinstance(made, Proof):
            self._accept_proof(made)
            return
        told = Told(self._numbering.file, made.series if isinstance(made, Record) else 0)
        known, before = self._seen.setdefault(f"{name}/{made.id}", (content, told))
        if before is told:
            self._waiting[name].append(made)
        elif known == content:
            self.merged.known[name] += 1
            if isinstance(made, Record):
                self._numbering.see_again((made.machine, made.cell.key()), made.series, before)
        else:
            raise NetdynoError(f"{place}: {made.id} is in these files twice, with other content.")
        if len(self._waiting[name]) >= bulk.AT_A_TIME:
            self._look_up()

    def _accept_proof(self, proof: Proof) -> None:
        """The newer of two proofs of the same counts."""
        kept = self._proofs.get(_key(proof)) or self._kept_proofs.get(_key(proof))
        if kept is not None and kept.proved_at >= proof.proved_at:
            self.merged.known["proofs"] += 1
        else:
            self._proofs[_key(proof)] = proof

    def _look_up(self) -> None:
        """Which of those waiting are in the store already; they must have the same content."""
        for name, waiting in self._waiting.items():
            rows = [TO_ROW[name](made) for made in waiting]
            kept = bulk.rows_with(self._store, name, [row["id"] for row in rows]) if rows else {}
            for row in rows:
                if row["id"] in kept and not _is_same(name, kept[row["id"]], row):
                    told = f"{name.removesuffix('s')} {row['id']} is kept already, with other content."
                    raise NetdynoError(told, hint="Nothing was imported: one of the two was changed.")
            new = [row for row in rows if row["id"] not in kept]
            if name == "records":
                self._number(rows, kept)
                self._stage.add_runs(new, self._numbering.file)
            else:
                self._stage.add(name, new)
            self.merged.new[name] += len(new)
            self.merged.known[name] += len(rows) - len(new)
            waiting.clear()

    def _number(self, rows: Sequence[Mapping[str, Any]], kept: Mapping[str, Mapping[str, Any]]) -> None:
        for row in rows:
            owner = row["machine"], row["cell_key"]
            if row["id"] in kept:
                self._numbering.see_kept(owner, row["series"], kept[row["id"]]["series"])
            else:
                self._numbering.see_new(owner, row["series"])


def _key(proof: Proof) -> tuple[str, ...]:
    return tuple(str(getattr(proof, column.name)) for column in bulk.TABLES["proofs"].primary_key)


def _proof_row(proof: Proof) -> dict[str, Any]:
    return {name: getattr(proof, name) for name in proof.__slots__}


TO_ROW: dict[str, Callable[[Any], dict[str, Any]]] = {
    "records": rows.row_of_checked,
    "courses": course_rows.to_row,
}
FROM_ROW: dict[str, Callable[[dict[str, Any]], Record | Course]] = {
    "records": rows.from_row,
    "courses": course_rows.from_row,
}


def _is_same(name: str, kept: dict[str, Any], row: dict[str, Any]) -> bool:
    """As it is, or once what is kept has gone through an export too: that drops what cannot be shown. The number of
    its series is the store's own."""
    if name == "records":
        row = {**row, "series": kept["series"]}
    if kept == row:
        return True
    passed_on = FROM_PLAIN[name](TO_PLAIN[name](FROM_ROW[name](kept)))
    return repr(TO_ROW[name](passed_on)) == repr(row)  # text, because NaN is not equal to itself


def _content(told: Mapping[str, Any]) -> bytes:
    """What a record or course says, whatever number a store gave to its series."""
    text = json.dumps({name: value for name, value in told.items() if name != "series"}, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


def _checked_field(name: str, value: Any) -> Any:
    shape = EXPORT.required.get(name) or EXPORT.optional.get(name)
    if name == "format" and value != FORMAT:
        raise NetdynoError(f'expected "format": "{FORMAT}", received {str(value)[:60]!r}.', hint=EXPORT_HINT)
    if name == "schema_version" and isinstance(value, int) and value > SCHEMA_VERSION:
        told = f"it has schema_version {value}; this netdyno reads up to {SCHEMA_VERSION}."
        raise NetdynoError(told, hint="Upgrade netdyno: pip install --upgrade netdyno.")
    if shape is None:
        raise NetdynoError(f"no field of an export is named {name[:60]!r}.")
    try:
        shape.check(value)
    except Unexpected as error:
        raise NetdynoError(f"field {name}: {error}.") from error
    return value


def _check_head(head: dict[str, Any]) -> None:
    missing = [name for name in HEAD if name not in head]
    if missing:
        told = f"expected the fields {' and '.join(HEAD)} at its start, received none named {missing[0]}."
        raise NetdynoError(told, hint=EXPORT_HINT)


def _checked_part(name: str, number: int, value: Any) -> bytes:
    """The text of an element as an export writes it, which is what the digest is of."""
    if number > MOST:
        raise NetdynoError(f"expected at most {MOST:,} {name}.")
    try:
        PARTS[name].check(value)
    except Unexpected as error:
        where = f", field {error.where}" if error.where else ""
        raise NetdynoError(f"{name.removesuffix('s')} {number:,}{where}: {error}.") from error
    return json.dumps(value, separators=(",", ":")).encode()


def _check_end(head: dict[str, Any], digest: str) -> None:
    _check_head(head)
    if head.get("digest", f"sha256:{digest}") != f"sha256:{digest}":
        hint = "Import the file as it was exported."
        raise NetdynoError("it was changed after it was exported: its digest does not fit.", hint=hint)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of an export, unpacked if it is compressed."""
    with path.open("rb") as file:
        start = file.read(len(SQLITE_START))
        file.seek(0)
        if start == SQLITE_START:
            hint = f"Export it first: netdyno --store {path} results export --format json -o FILE"
            raise NetdynoError("it is a store, not an export.", hint=hint)
        if start.startswith(GZIP_START):
            with gzip.open(file) as unpacked:
                yield unpacked  # type: ignore[misc]
        else:
            yield file


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Whatever is wrong with a file is told with its name."""
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
