"""Where records are kept: one SQLite file, or a PostgreSQL database for a team."""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NoReturn, Self

from sqlalchemy import Connection, Engine, Integer, Row, create_engine, delete, event, false, insert, select
from sqlalchemy.exc import IntegrityError, OperationalError

from netdyno.errors import NetdynoError, unknown
from netdyno.results import course_rows, migrate
from netdyno.results.cell import FIELDS
from netdyno.results.course import Course
from netdyno.results.faults import told
from netdyno.results.limit import Limit
from netdyno.results.location import Place, read_location
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.rows import from_row, to_row
from netdyno.results.tables import COURSES, LIMITS, PROOFS, RECORDS

FILTERS = (*FIELDS, "series", "outcome")
WAIT_S = 30.0  # for another process's lock
REACH_S = 10  # for a server to answer
LARGEST = 2**63 - 1  # whole number a database compares with


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a plan needs to know of a run that has ended."""

    series: int
    number: int
    outcome: str
    graph_digest: str
    took_s: float


class Store:
    """The records of one database. Made by open_store; safe to use from several processes and threads."""

    def __init__(self, engine: Engine, place: Place) -> None:
        self._engine = engine
        self._place = place

    def add(self, record: Record) -> None:
        """Keep a record: on disk when this returns. Adding the same one again changes nothing."""
        row = to_row(record)
        with told(self._place):
            try:
                with _writing(self._engine) as connection:
                    connection.execute(insert(RECORDS), row)
            except IntegrityError as error:
                self._accept_if_same(row, error)

    def records(self, where: Mapping[str, str | int] | None = None, machine: str | None = None) -> list[Record]:
        """Those whose cell fields, series and outcome are as `where` says, oldest first."""
        query = select(RECORDS).order_by(*(RECORDS.c[n] for n in ("started_at", "series", "number", "id")))
        for name, value in (where or {}).items():
            query = query.where(RECORDS.c[_known(name)] == _comparable(name, value))
        if machine is not None:
            query = query.where(RECORDS.c.machine == machine)
        with self.connection() as connection:
            rows = connection.execute(query).mappings().all()
        return [from_row(dict(row)) for row in rows]

    def finished(self, machine: str) -> dict[str, list[Finished]]:
        """Which runs have ended there, whatever their outcome: by cell key, oldest first, without their samples."""
        names = ("cell_key", "series", "number", "outcome", "graph_digest", "started_at", "ended_at")
        query = select(*(RECORDS.c[name] for name in names)).where(RECORDS.c.machine == machine)
        found: dict[str, list[Finished]] = {}
        with self.connection() as connection:
            for row in connection.execute(query.order_by(RECORDS.c.started_at, RECORDS.c.id)):
                found.setdefault(row.cell_key, []).append(_finished(row))
        return found

    def add_proof(self, proof: Proof) -> None:
        """Keep a proof in place of an earlier one of the same framework, network and manner."""
        row = asdict(proof)
        same = [column == row[column.name] for column in PROOFS.primary_key]
        with told(self._place), _writing(self._engine) as connection:
            connection.execute(delete(PROOFS).where(*same))
            connection.execute(insert(PROOFS), row)

    def proofs(self, machine: str | None = None) -> list[Proof]:
        """The last proof of everything that was proved, there or anywhere."""
        query = select(PROOFS).order_by(*PROOFS.primary_key)
        if machine is not None:
            query = query.where(PROOFS.c.machine == machine)
        with self.connection() as connection:
            return [Proof(**row) for row in connection.execute(query).mappings()]

    def add_limit(self, limit: Limit) -> None:
        """Keep what is known of a largest batch in place of what was known of the same versions before."""
        row = asdict(limit)
        same = [column == row[column.name] for column in LIMITS.primary_key]
        with told(self._place), _writing(self._engine) as connection:
            connection.execute(delete(LIMITS).where(*same))
            connection.execute(insert(LIMITS), row)

    def find_limit(self, machine: str, cell_key: str) -> Limit | None:
        """What was last learned of the cell's largest batch there, whatever the versions."""
        query = select(LIMITS).where(LIMITS.c.machine == machine, LIMITS.c.cell_key == cell_key)
        with self.connection() as connection:
            row = connection.execute(query.order_by(LIMITS.c.found_at.desc())).mappings().first()
        return None if row is None else Limit(**row)

    def add_course(self, course: Course) -> None:
        """Keep a course: on disk when this returns."""
        with told(self._place), _writing(self._engine) as connection:
            connection.execute(insert(COURSES), course_rows.to_row(course))

    def courses(self, machine: str | None = None) -> list[Course]:
        """Every course, oldest first."""
        query = select(COURSES).order_by(COURSES.c.started_at, COURSES.c.id)
        if machine is not None:
            query = query.where(COURSES.c.machine == machine)
        with self.connection() as connection:
            return [course_rows.from_row(dict(row)) for row in connection.execute(query).mappings()]

    def has(self, record_id: str) -> bool:
        """Whether a record of that id is kept."""
        query = select(RECORDS.c.id).where(RECORDS.c.id == record_id)
        with self.connection() as connection:
            return connection.execute(query).first() is not None

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """For a query; what goes wrong is told in a sentence."""
        with told(self._place), self._engine.connect() as connection:
            yield connection

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept_if_same(self, row: Mapping[str, Any], error: IntegrityError) -> None:
        with self._engine.connect() as connection:
            kept = connection.execute(select(RECORDS).where(RECORDS.c.id == row["id"])).mappings().first()
            # Text, because NaN is not equal to itself.
            if kept is not None and repr(to_row(from_row(dict(kept)))) == repr(dict(row)):
                return
            if kept is not None:
                raise NetdynoError(f"record {row['id']} is kept already, with other content.") from error
            same_run = [RECORDS.c[name] == row[name] for name in ("machine", "cell_key", "series", "number")]
            other = connection.execute(select(RECORDS.c.id).where(*same_run)).scalar()
        if other is None:
            raise error
        run = f"run {row['number']} of series {row['series']} of {row['cell_key']} on {row['machine']}"
        raise NetdynoError(f"record {row['id']} repeats record {other}: both are {run}.") from error


def open_store(location: str, *, create: bool = True) -> Store:
    """Open the store at a path or URL, migrated to this version; `create=False` refuses to make one.

    With `create` it is also proved writable, so that a long suite does not learn otherwise at its first record.
    """
    place = read_location(location)
    if place.path is not None:
        _check_path(place, create)
    engine = _engine(place)
    try:
        with told(place):
            _prepare(engine, place, create)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, place)


def _check_path(place: Place, create: bool) -> None:
    path = place.path
    assert path is not None
    try:
        if path.is_dir():
            raise NetdynoError(f"{place.shown} is a folder.", hint="Name a file in it, such as results.db.")
        if not create and not path.exists():
            _nothing_here(place)
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"the folder of {place.shown} cannot be created: {reason}."
        raise NetdynoError(message, hint="Choose a folder you may write.") from error


def _engine(place: Place) -> Engine:
    if place.path is None:
        return _server_engine(place)
    engine = create_engine(place.url, connect_args={"timeout": WAIT_S})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _server_engine(place: Place) -> Engine:
    reach = {} if "connect_timeout" in place.url.query else {"connect_timeout": REACH_S}
    try:
        return create_engine(place.url, connect_args=reach, pool_pre_ping=True)
    except ImportError as error:
        hint = "Install it: pip install 'netdyno[postgres]'."
        raise NetdynoError(f"{place.shown} needs psycopg, which is missing.", hint=hint) from error


def _set_up_sqlite(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions are begun below, so that migrations are inside one too
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def _writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that takes the write lock at once: waiting for it later could deadlock."""
    with engine.connect() as connection:
        writer = connection.execution_options(writing=True)
        with writer.begin():
            yield writer


def _prepare(engine: Engine, place: Place, create: bool) -> None:
    with engine.connect() as connection:
        current = migrate.is_current(connection, place)
        if not create and migrate.is_empty(connection, place):
            _nothing_here(place)
    if current and not create:
        return
    with _writing(engine) as connection:
        migrate.upgrade(connection, place)
        _write_nothing(connection)
    if place.path is not None:
        _use_wal(engine)


def _write_nothing(connection: Connection) -> None:
    """Insert no row: the way to learn that a database is read-only, which SQLite tells only a writer."""
    nothing = select(RECORDS).where(false())
    connection.execute(insert(RECORDS).from_select(RECORDS.c.keys(), nothing))


def _use_wal(engine: Engine) -> None:
    """SQLite does not wait for others when it changes its journal, so we do."""
    deadline_s = time.monotonic() + WAIT_S
    while True:
        raw = engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline_s:
                raise OperationalError("PRAGMA journal_mode = WAL", None, error) from error
        finally:
            raw.close()
        time.sleep(0.05)


def _nothing_here(place: Place) -> NoReturn:
    raise NetdynoError(f"no results at {place.shown}.", hint="Measure something first: netdyno run.")


def _known(name: str) -> str:
    if name not in FILTERS:
        raise unknown("field", name, FILTERS)
    return name


def _comparable(name: str, value: str | int) -> str | int:
    if not isinstance(RECORDS.c[name].type, Integer):
        return str(value)
    try:
        number = int(value)
    except ValueError:
        number = LARGEST + 1
    if abs(number) > LARGEST:
        raise NetdynoError(f"{name}: expected a whole number, received '{value}'.")
    return number


def _finished(row: Row[Any]) -> Finished:
    took = datetime.fromisoformat(row.ended_at) - datetime.fromisoformat(row.started_at)
    return Finished(
        series=row.series,
        number=row.number,
        outcome=row.outcome,
        graph_digest=row.graph_digest,
        took_s=took.total_seconds(),
    )
