"""How many records leave a store, and how many come into one: a few hundred in memory, all or none."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, Text, collate, delete, insert, select
from sqlalchemy.exc import IntegrityError

from netdyno.results.cell import FIELDS
from netdyno.results.faults import told
from netdyno.results.record import Record
from netdyno.results.rows import from_row
from netdyno.results.store import Store, _writing
from netdyno.results.tables import COURSES, PROOFS, RECORDS

AT_A_TIME = 500
TABLES: Mapping[str, Table] = {"records": RECORDS, "courses": COURSES, "proofs": PROOFS}
RUN = ("machine", "cell_key", "series", "number")  # what no two records share
BYTEWISE = {"sqlite": "BINARY", "postgresql": "C"}  # the collation that sorts as Python does

T = TypeVar("T")
NamedRow = tuple[str, dict[str, Any]]
"""The name of a table, and a row for it."""


class Clash(Exception):
    """A row that the store has another of."""


def runs_by_cell(store: Store) -> Iterator[Record]:
    """Every record in the order of results: a cell's runs side by side, by machine, series and number."""
    with _reading(store) as connection:
        ids = [row.id for row in connection.execute(select(RECORDS.c.id).order_by(*_order(connection)))]
        for some in in_batches(ids):
            rows = _rows_with(connection, RECORDS, some)
            yield from (from_row(rows[id_]) for id_ in some)


def rows_with(store: Store, table: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The rows of a table that have one of the ids, by id."""
    with _reading(store) as connection:
        return _rows_with(connection, TABLES[table], ids)


def find_same_run(store: Store, row: Mapping[str, Any]) -> str | None:
    """The id of the record that is the same run of the same series of the same cell on the same machine."""
    query = select(RECORDS.c.id).where(*(RECORDS.c[name] == row[name] for name in RUN))
    with _reading(store) as connection:
        found: str | None = connection.execute(query).scalar()
        return found


def add_all(store: Store, rows: Iterable[NamedRow]) -> None:
    """Keep all rows or none: one transaction. A proof takes the place of the one that is kept of the same."""
    with told(store._place), _silent("psycopg"):
        try:
            with _writing(store._engine) as connection:
                for name, group in groupby(rows, key=lambda named: named[0]):
                    for some in in_batches(row for _, row in group):
                        _add(connection, name, some)
        except IntegrityError as error:
            raise Clash from error


def in_batches(values: Iterable[T]) -> Iterator[list[T]]:
    """The values, a few hundred at a time."""
    waiting = iter(values)
    while some := list(islice(waiting, AT_A_TIME)):
        yield some


def _add(connection: Connection, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if TABLES[name] is not PROOFS:
        connection.execute(insert(TABLES[name]), rows)
        return
    for row in rows:
        connection.execute(delete(PROOFS).where(*(column == row[column.name] for column in PROOFS.primary_key)))
        connection.execute(insert(PROOFS), row)


def _rows_with(connection: Connection, table: Table, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    found = connection.execute(select(table).where(table.c.id.in_(ids))).mappings()
    return {row["id"]: dict(row) for row in found}


def _order(connection: Connection) -> list[ColumnElement[Any]]:
    bytewise = BYTEWISE[connection.dialect.name]
    columns = (RECORDS.c[name] for name in (*FIELDS, "machine", "series", "number"))
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


@contextmanager
def _reading(store: Store) -> Iterator[Connection]:
    with told(store._place), store._engine.connect() as connection:
        yield connection
