"""How a store is opened: one SQLite file, or a PostgreSQL database for a team; made and migrated where needed."""

import os
import sqlite3
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, false, insert, select
from sqlalchemy.exc import OperationalError

from netdyno.errors import NetdynoError
from netdyno.files import reason_of
from netdyno.results.store import migrate
from netdyno.results.store.location import Place, read_location
from netdyno.results.store.problems import explained
from netdyno.results.store.rows import read_json, write_json
from netdyno.results.store.store import Store, writing
from netdyno.results.store.tables import RUNS

WAIT_S = 30.0  # for another process's lock
REACH_S = 10  # for a server to answer
JSON_CODEC: Mapping[str, Any] = {"json_serializer": write_json, "json_deserializer": read_json}


def open_store(location: str, *, create: bool = True) -> Store:
    """Open the store at a path or URL, migrated to this version; `create=False` refuses to make one.

    With `create` it is also tried for writing, so that a long suite does not fail at its first record.
    """
    place = read_location(location)
    if place.path is not None:
        _check_path(place, create)
    engine = _engine(place, create)
    try:
        with explained(place):
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
        message = f"the folder of {place.shown} cannot be created: {reason_of(error)}."
        raise NetdynoError(message, hint="Choose a folder you may write.") from error


def _engine(place: Place, create: bool) -> Engine:
    if place.path is None:
        return _server_engine(place)
    url = place.url if create or not _is_fixed(place.path) else _fixed(place.path)
    engine = create_engine(url, connect_args={"timeout": WAIT_S}, **JSON_CODEC)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _is_fixed(path: Path) -> bool:
    """Whether the files that SQLite keeps beside a database cannot be made there, and nobody else made them."""
    beside = any(Path(f"{path}{ending}").exists() for ending in ("-wal", "-journal"))
    may_write = os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
    return not may_write and not beside


def _fixed(path: Path) -> URL:
    """A database that nothing changes, such as one on a read-only disk: SQLite then needs no files beside it."""
    return URL.create("sqlite", database=f"file:{quote(str(path))}", query={"immutable": "1", "uri": "true"})


def _server_engine(place: Place) -> Engine:
    reach = {} if "connect_timeout" in place.url.query else {"connect_timeout": REACH_S}
    try:
        return create_engine(place.url, connect_args=reach, pool_pre_ping=True, **JSON_CODEC)
    except ImportError as error:
        hint = "Install it: pip install 'netdyno[postgres]'."
        raise NetdynoError(f"{place.shown} needs psycopg, which is missing.", hint=hint) from error


def _set_up_sqlite(connection: sqlite3.Connection, _: object) -> None:
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # a damaged text hides no other row
    connection.isolation_level = None  # transactions are begun below, so that migrations are inside one too
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _prepare(engine: Engine, place: Place, create: bool) -> None:
    with engine.connect() as connection:
        current = migrate.is_current(connection, place)
        if not create and migrate.is_empty(connection, place):
            _nothing_here(place)
    if current and not create:
        return
    with writing(engine) as connection:
        migrate.upgrade(connection, place)
        _write_nothing(connection)
    if place.path is not None:
        _use_wal(engine)


def _write_nothing(connection: Connection) -> None:
    """Insert no row: SQLite reports only to a writer that a database is read-only."""
    nothing = select(RUNS).where(false())
    connection.execute(insert(RUNS).from_select(RUNS.c.keys(), nothing))


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
