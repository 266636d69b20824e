"""How many records are read from a store, and written into one: a few hundred in memory; all are written, or none."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    collate,
    delete,
    exists,
    false,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from netdyno.errors import NetdynoError
from netdyno.results.cell import FIELDS
from netdyno.results.exchange.renumber import Move, Owner
from netdyno.results.pictures import Pictures
from netdyno.results.record import Record
from netdyno.results.store.parsing import as_text, keys_of, parsed, parsers_of
from netdyno.results.store.rows import from_row
from netdyno.results.store.sound import sound_pictures, sound_trace
from netdyno.results.store.store import LARGEST, Store
from netdyno.results.store.tables import GRAPHS, PROOFS, RUNS

AT_A_TIME = 500
TABLES: Mapping[str, Table] = {"records": RUNS, "graphs": GRAPHS, "proofs": PROOFS}
RUN = ("machine", "cell_key", "series", "number")  # what no two records share
LEFT_OUT: dict[str, Any] = {"warmup": (), "trace": {}, "pictures": None}
BYTEWISE = {"sqlite": "BINARY", "postgresql": "C"}  # the collation that sorts as Python does

Where = Mapping[str, str | int]  # the values of columns
ANYTHING: Where = {}
T = TypeVar("T")


def runs_by_cell(
    store: Store, *, of: str = "", without: str = "", where: Where = ANYTHING, whole: bool = True
) -> Iterator[Record]:
    """Every record, only those `of` a workload, all `without` those of one, or those whose columns are as `where`
    says; in the order of results: a cell's runs side by side, by machine, series and number.

    One that is not `whole` has no warm-up, trace or pictures: no statistic needs them, and they are most of a record.
    """
    left_out = {} if whole else LEFT_OUT
    columns = [column for column in RUNS.columns if column.name not in left_out]
    parsers = parsers_of(columns)
    with store.connection() as connection:
        query = select(RUNS.c.id).where(*_conditions(where)).order_by(*_order(connection))
        if of:
            query = query.where(RUNS.c.workload == of)
        if without:
            query = query.where(RUNS.c.workload != without)
        ids = connection.execute(query).scalars().all()
        for some in in_batches(ids):
            rows = _rows_as_text(connection, columns, some)
            found = (rows[id_] for id_ in some if id_ in rows)
            yield from store.read(found, lambda row: from_row(parsed(parsers, row) | left_out))


def ids_of(store: Store, where: Where = ANYTHING) -> list[str]:
    """Of such runs."""
    with store.connection() as connection:
        query = select(RUNS.c.id).where(*_conditions(where)).order_by(RUNS.c.started_at, RUNS.c.id)
        return list(connection.execute(query).scalars())


def series_count(store: Store, where: Where = ANYTHING, *, newest: bool) -> int:
    """How many series there are of such runs; `newest` counts one for each cell and machine."""
    names = (*FIELDS, "machine", *(() if newest else ("series",)))
    different = select(*(RUNS.c[name] for name in names)).where(*_conditions(where)).distinct().subquery()
    with store.connection() as connection:
        return int(connection.execute(select(func.count()).select_from(different)).scalar_one())


def known_values(store: Store, name: str) -> Iterator[Any]:
    """The different values that a column has; of JSON, what it says."""
    column = RUNS.c[name]
    parsers = parsers_of([column])
    with store.connection() as connection:
        for row in connection.execute(select(as_text(column)).distinct()):
            yield parsed(parsers, row)[name]


def rows_with(store: Store, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The rows of runs that have one of the ids, by id."""
    with store.connection() as connection:
        return _rows_with(connection, RUNS.columns, ids)


def taken_series(store: Store) -> dict[Owner, set[int]]:
    """The numbers of the series in a store."""
    taken: dict[Owner, set[int]] = {}
    columns = (RUNS.c[name] for name in ("machine", "cell_key", "series"))
    with store.connection() as connection:
        for row in connection.execute(select(*columns).distinct()):
            taken.setdefault((row.machine, row.cell_key), set()).add(row.series)
    return taken


def traces_of(store: Store, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """What was read over time in the runs of these ids, by id; runs without are left out."""
    with store.connection() as connection:
        rows = _rows_with(connection, (RUNS.c.id, RUNS.c.trace), ids)
    return {id_: sound_trace(row["trace"]) for id_, row in rows.items() if row["trace"]}


def pictures_of(store: Store, ids: Sequence[str]) -> dict[str, Pictures]:
    """The pictures that networks made in the runs of these ids, by id; runs without are left out."""
    with store.connection() as connection:
        rows = _rows_with(connection, (RUNS.c.id, RUNS.c.pictures), ids)
    found = {id_: sound_pictures(row["pictures"]) for id_, row in rows.items()}
    return {id_: pictures for id_, pictures in found.items() if pictures}


def figure_names(store: Store) -> list[str]:
    """The names of all figures, in the order in which runs have them."""
    names: dict[str, None] = {}
    with store.connection() as connection:
        for text in connection.execute(select(as_text(RUNS.c.figures))).scalars():
            names |= dict.fromkeys(keys_of(text))
    return list(names)


def graphs_of(store: Store, digests: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those of the graphs with these digests that are kept, with their wire forms."""
    with store.connection() as connection:
        for some in in_batches(digests):
            yield from (tuple(row) for row in connection.execute(select(GRAPHS).where(GRAPHS.c.digest.in_(some))))


def in_batches(values: Iterable[T]) -> Iterator[list[T]]:
    """The values, a few hundred at a time."""
    waiting = iter(values)
    while some := list(islice(waiting, AT_A_TIME)):
        yield some


class Stage:
    """Where rows wait, seen by nobody: temporary tables, so that the store itself is locked for a moment only."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tables = {name: _waiting_room(table) for name, table in TABLES.items()}

    def prepare(self) -> None:
        for table in self._tables.values():
            table.create(self._connection)

    def add(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Let rows for a table wait."""
        if rows:
            self._connection.execute(insert(self._tables[name]), rows)

    def add_runs(self, rows: Sequence[Mapping[str, Any]], file: int) -> None:
        """Let records wait that came in a file, whose series may get other numbers."""
        self.add("records", [{**row, "file": file, "file_series": row["series"]} for row in rows])

    def move(self, moves: Sequence[Move], file: int) -> None:
        """Give series of a file that waits their new numbers."""
        room = self._tables["records"]
        wanted = {"machine": room.c.machine, "cell_key": room.c.cell_key, "series": room.c.file_series}
        these = [column == bindparam(f"of_{name}") for name, column in wanted.items()]
        change = update(room).where(room.c.file == file, *these).values(series=bindparam("becomes"))
        changes = [{"becomes": m.becomes, **{f"of_{name}": getattr(m, name) for name in wanted}} for m in moves]
        if changes:
            self._connection.execute(change, changes)

    def let_in(self) -> None:
        """Put everything that waits into the store, or nothing. A proof takes the place of one of the same."""
        self._connection.commit()
        try:
            with self._connection.execution_options(writing=True).begin():
                proofs = self._tables["proofs"]
                same = [proofs.c[column.name] == column for column in PROOFS.primary_key]
                self._connection.execute(delete(PROOFS).where(exists().where(*same)))
                for name, table in TABLES.items():
                    columns = [column.name for column in table.columns]
                    waiting = select(*(self._tables[name].c[column] for column in columns))
                    self._connection.execute(insert(table).from_select(columns, waiting))
        except IntegrityError as error:
            raise self._explain() from error

    def _explain(self) -> NetdynoError:
        """Which row the database refused: it does not say."""
        room = self._tables["records"]
        same = [RUNS.c[name] == room.c[name] for name in RUN]
        kept = select(room, RUNS.c.id.label("other")).where(*same)
        first = func.min(room.c.id).label("other")
        repeated = select(*(room.c[name] for name in RUN), func.max(room.c.id).label("id"), first)
        repeated = repeated.group_by(*(room.c[name] for name in RUN)).having(func.count() > 1)
        for query in (kept, repeated):
            if row := self._connection.execute(query.limit(1)).first():
                what = f"run {row.number} of series {row.series} of {row.cell_key} on {row.machine}"
                hint = (
                    "Nothing was imported. If it was measured meanwhile, run the same command again; else a store of "
                    "its own takes it: netdyno --store NEW results import FILE"
                )
                return NetdynoError(f"record {row.id} repeats record {row.other}: both are {what}.", hint=hint)
        return NetdynoError("the store changed meanwhile; nothing was imported.", hint="Run the same command again.")


@contextmanager
def staging(store: Store) -> Iterator[Stage]:
    """A stage on a connection of its own, which takes the temporary tables with it when it is closed."""
    with _silent("psycopg"), store.connection() as connection:
        connection.detach()
        stage = Stage(connection)
        stage.prepare()
        yield stage


def _waiting_room(table: Table) -> Table:
    columns = [Column(column.name, column.type) for column in table.columns]
    if table is RUNS:
        columns += [Column("file", Integer), Column("file_series", Integer)]
    return Table(f"incoming_{table.name}", MetaData(), *columns, prefixes=["TEMPORARY"])


def _rows_with(
    connection: Connection, columns: Iterable[Column[Any]], ids: Sequence[str]
) -> dict[str, dict[str, Any]]:
    by_name = {column.name: column for column in columns}
    found = connection.execute(select(*by_name.values()).where(by_name["id"].in_(ids)))
    return {row.id: dict(zip(by_name, row, strict=True)) for row in found}


def _rows_as_text(
    connection: Connection, columns: Sequence[Column[Any]], ids: Sequence[str]
) -> dict[str, Sequence[Any]]:
    """The same with JSON as it is kept: parsed one at a time, a few hundred rows need a tenth of the memory."""
    place = [column.name for column in columns].index("id")
    query = select(*map(as_text, columns)).where(RUNS.c.id.in_(ids))
    return {row[place]: row for row in connection.execute(query)}


def _conditions(where: Where) -> list[ColumnElement[bool]]:
    return [RUNS.c[name] == value if _can_be(value) else false() for name, value in where.items()]


def _can_be(value: str | int) -> bool:
    """Whether a column could hold the value at all: a database refuses to compare with any other."""
    if isinstance(value, int):
        return abs(value) <= LARGEST
    return "\0" not in value and value.encode("utf-8", "replace").decode() == value


def _order(connection: Connection) -> list[ColumnElement[Any]]:
    bytewise = BYTEWISE[connection.dialect.name]
    columns = (RUNS.c[name] for name in (*FIELDS, "machine", "series", "number"))
    return [collate(c, bytewise) if isinstance(c.type, Text) else c for c in columns]


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Without warnings of a library that raises the same as an error."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
