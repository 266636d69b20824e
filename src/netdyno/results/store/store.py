"""The records, graphs, proofs and limits of one database: what is added, and how it is found."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import count
from typing import Any, Self, TypeVar

from msgspec import structs
from sqlalchemy import Connection, Engine, Integer, Table, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from netdyno.errors import NetdynoError, unknown
from netdyno.results.cell import FIELDS
from netdyno.results.limit import Limit
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.store.location import Place
from netdyno.results.store.problems import explained
from netdyno.results.store.rows import Unreadable, from_row, limit_from_row, proof_from_row, proof_to_row, to_row
from netdyno.results.store.tables import GRAPHS, LIMITS, PROOFS, RUNS
from netdyno.results.values import latest_moment

FILTERS = (*FIELDS, "series", "outcome")
LOG = logging.getLogger(__name__)  # without any set-up, Python writes warnings to stderr
AT_ONCE = 500  # ids in a statement
LARGEST = 2**63 - 1  # whole number a database compares with


T = TypeVar("T")
Basis = Mapping[str, str | int | float]
"""What all runs of a series share: graph, worker, the framework's version, how they were measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a plan needs to know of a run that has ended."""

    series: int
    number: int
    outcome: str
    basis: Basis
    took_s: float


class Store:
    """The records of one database. Made by open_store; safe to use from several processes and threads."""

    def __init__(self, engine: Engine, place: Place) -> None:
        self._engine = engine
        self._place = place
        self._unreadable: list[str] = []

    def add(self, record: Record) -> Record:
        """Keep a record: on disk when this returns. Adding the same one again changes nothing.

        Where another run has its number already, as when two homes of a machine measured the same cell, it goes into
        the first later series that lacks the number. Returned as it is kept.
        """
        row = to_row(record)
        with explained(self._place):
            while True:
                try:
                    with writing(self._engine) as connection:
                        connection.execute(insert(RUNS), row)
                    return structs.replace(record, series=row["series"])
                except IntegrityError as error:
                    if self._is_kept(row, error):
                        return record
                    row["series"] = self._series_without(row, error)

    def records(self, where: Mapping[str, str | int] | None = None, machine: str | None = None) -> list[Record]:
        """Those whose cell fields, series and outcome are as `where` says, oldest first."""
        query = select(RUNS).order_by(*(RUNS.c[n] for n in ("started_at", "series", "number", "id")))
        for name, value in (where or {}).items():
            query = query.where(RUNS.c[_known(name)] == _comparable(name, value))
        if machine is not None:
            query = query.where(RUNS.c.machine == machine)
        with self.connection() as connection:
            rows = connection.execute(query).mappings().all()
        return list(self.read(rows, from_row))

    def finished(self, machine: str) -> dict[str, list[Finished]]:
        """Which runs have ended there, whatever their outcome: by cell key, oldest first, without their samples."""
        times = ("started_at", "ended_at")
        names = ("cell_key", "series", "number", "outcome", "graph_digest", "worker_hash", "basis", *times)
        query = select(*(RUNS.c[name] for name in names)).where(RUNS.c.machine == machine)
        found: dict[str, list[Finished]] = {}
        with self.connection() as connection:
            rows = connection.execute(query.order_by(RUNS.c.started_at, RUNS.c.id)).all()
            limit = latest_moment()
            for row in sorted(rows, key=lambda row: str(row.started_at) < limit):  # those of a wrong clock first
                for run in self.read([row._mapping], _finished):
                    found.setdefault(row.cell_key, []).append(run)
        return found

    def add_proof(self, proof: Proof) -> None:
        """Keep a proof in place of an earlier one of the same framework, network, precision and execution."""
        self._replace(PROOFS, proof_to_row(proof))

    def proofs(self, machine: str | None = None) -> list[Proof]:
        """The last proof of everything that was proved, there or anywhere."""
        query = select(PROOFS).order_by(*PROOFS.primary_key)
        if machine is not None:
            query = query.where(PROOFS.c.machine == machine)
        with self.connection() as connection:
            return list(self.read(connection.execute(query).mappings(), proof_from_row))

    def add_limit(self, limit: Limit) -> None:
        """Keep what is known of a largest batch in place of what was known of the same versions before."""
        self._replace(LIMITS, asdict(limit))

    def find_limit(self, machine: str, cell_key: str) -> Limit | None:
        """What was last learned of the cell's largest batch there, whatever the versions."""
        query = select(LIMITS).where(LIMITS.c.machine == machine, LIMITS.c.cell_key == cell_key)
        with self.connection() as connection:
            row = connection.execute(query.order_by(LIMITS.c.found_at.desc())).mappings().first()
        return next(self.read([row] if row else [], limit_from_row), None)

    def add_graph(self, digest: str, wire: str) -> None:
        """Keep a graph as a worker gets it, once."""
        if self.find_graph(digest) is not None:
            return
        with explained(self._place):
            try:
                with writing(self._engine) as connection:
                    connection.execute(insert(GRAPHS), {"digest": digest, "wire": wire})
            except IntegrityError:  # another process was faster
                assert self.find_graph(digest) is not None

    def find_graph(self, digest: str) -> str | None:
        """The graph of that digest in its wire form, JSON; None where it is not kept."""
        with self.connection() as connection:
            return connection.execute(select(GRAPHS.c.wire).where(GRAPHS.c.digest == digest)).scalar()

    def read(self, rows: Iterable[Any], made: Callable[[Any], T]) -> Iterator[T]:
        """What is in the rows, without those that cannot be read: they are counted, and named when it is closed."""
        for row in rows:
            try:
                yield made(row)
            except Unreadable as error:
                self._unreadable.append(str(error))

    def delete(self, ids: Sequence[str]) -> int:
        """Remove the records of these ids; how many there were."""
        with explained(self._place), writing(self._engine) as connection:
            batches = [ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE)]
            return sum(connection.execute(delete(RUNS).where(RUNS.c.id.in_(some))).rowcount for some in batches)

    def leave_behind(self, failed: Sequence[Record]) -> int:
        """Move the other runs of the failed ones' series to a new one, in which these can be repeated; its number."""
        first, ids = failed[0], [record.id for record in failed]
        same = [RUNS.c.machine == first.machine, RUNS.c.cell_key == first.cell.key()]
        with explained(self._place), writing(self._engine) as connection:
            series = int(connection.execute(select(func.max(RUNS.c.series)).where(*same)).scalar() or 0) + 1
            others = (RUNS.c.series == first.series, RUNS.c.id.not_in(ids))
            connection.execute(update(RUNS).where(*same, *others).values(series=series))
        return series

    def has(self, record_id: str) -> bool:
        """Whether a record of that id is kept."""
        query = select(RUNS.c.id).where(RUNS.c.id == record_id)
        with self.connection() as connection:
            return connection.execute(query).first() is not None

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """For a query; an error of the database becomes one sentence."""
        with explained(self._place), self._engine.connect() as connection:
            yield connection

    def close(self) -> None:
        self._engine.dispose()
        if unreadable := list(dict.fromkeys(self._unreadable)):
            count = f"{len(unreadable)} rows" if len(unreadable) > 1 else "1 row"
            first = unreadable[0].rstrip(".")
            LOG.warning(
                "%s: %s cannot be read, left out (of a newer netdyno, or damaged). First: %s.",
                self._place.shown,
                count,
                first,
            )
            self._unreadable.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _replace(self, table: Table, row: Mapping[str, Any]) -> None:
        same = [column == row[column.name] for column in table.primary_key]
        with explained(self._place), writing(self._engine) as connection:
            connection.execute(delete(table).where(*same))
            connection.execute(insert(table), row)

    def _is_kept(self, row: Mapping[str, Any], error: IntegrityError) -> bool:
        """Whether the same record is there already; another one of its id is an error."""
        with self._engine.connect() as connection:
            kept = connection.execute(select(RUNS).where(RUNS.c.id == row["id"])).mappings().first()
        if kept is None:
            return False
        own = [dict(one, series=0) for one in (to_row(from_row(dict(kept))), row)]  # it may have been moved
        if repr(own[0]) != repr(own[1]):  # text, because NaN is not equal to itself
            raise NetdynoError(f"record {row['id']} is kept already, with other content.") from error
        return True

    def _series_without(self, row: Mapping[str, Any], error: IntegrityError) -> int:
        """The first series after the row's own that has no run of its number."""
        same = [RUNS.c[name] == row[name] for name in ("machine", "cell_key", "number")]
        with self._engine.connect() as connection:
            taken = set(connection.execute(select(RUNS.c.series).where(*same)).scalars())
        if row["series"] not in taken:  # something else is wrong with it
            raise error
        return next(series for series in count(int(row["series"]) + 1) if series not in taken)


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that takes the write lock at once: waiting for it later could deadlock."""
    with engine.connect() as connection:
        writer = connection.execution_options(writing=True)
        with writer.begin():
            yield writer


def _known(name: str) -> str:
    if name not in FILTERS:
        raise unknown("field", name, FILTERS)
    return name


def _comparable(name: str, value: str | int) -> str | int:
    if not isinstance(RUNS.c[name].type, Integer):
        return str(value)
    try:
        number = int(value)
    except ValueError:
        number = LARGEST + 1
    if abs(number) > LARGEST:
        raise NetdynoError(f"{name}: expected a whole number, received '{value}'.")
    return number


def _finished(row: Mapping[str, Any]) -> Finished:
    try:
        took = datetime.fromisoformat(row["ended_at"]) - datetime.fromisoformat(row["started_at"])
        basis = {"graph": row["graph_digest"], "worker": row["worker_hash"], **(row["basis"] or {})}
    except (TypeError, ValueError) as error:
        raise Unreadable(f"a run of {row['cell_key']} cannot be read: {error}") from error
    return Finished(
        series=row["series"],
        number=row["number"],
        outcome=row["outcome"],
        basis=basis,
        took_s=took.total_seconds(),
    )
