"""How a store's schema is brought up to date, or refused, when it is opened."""

import threading
from typing import TYPE_CHECKING

from sqlalchemy import Connection, column, inspect, select, table, text

from netdyno.errors import NetdynoError
from netdyno.results.store.location import Place
from netdyno.results.store.tables import METADATA, REVISION, VERSION_TABLE

if TYPE_CHECKING:
    from alembic.config import Config

TABLES = {"records", *METADATA.tables}  # ours, by the names of every revision
LOCK_KEY = 0x6E657464796E6F  # "netdyno": names PostgreSQL's advisory lock
ONE_AT_A_TIME = threading.Lock()  # Alembic keeps its context in a module


def is_current(connection: Connection, place: Place) -> bool:
    """Whether nothing needs migrating. Raises for a database that is not ours or newer than we are."""
    revision = _revision(connection, place)
    if revision not in (None, REVISION) and revision not in _known_revisions():
        message = f"{place.shown} was written by a newer netdyno (schema {revision})."
        raise NetdynoError(message, hint="Upgrade netdyno: pip install --upgrade netdyno.")
    return revision == REVISION


def is_empty(connection: Connection, place: Place) -> bool:
    """Whether nobody has made a store here yet."""
    return _revision(connection, place) is None


def upgrade(connection: Connection, place: Place) -> None:
    """Migrate inside the connection's transaction; whoever comes second waits, then finds it done."""
    if place.path is None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
    if is_current(connection, place):
        return
    from alembic import command  # a tenth of a second that a store of this version does not cost

    config = _config()
    config.attributes["connection"] = connection
    with ONE_AT_A_TIME:
        command.upgrade(config, "head")


def _revision(connection: Connection, place: Place) -> str | None:
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE in tables:
        revision: str | None = connection.execute(
            select(column("version_num")).select_from(table(VERSION_TABLE))
        ).scalar()
        return revision
    # A server's database may be shared with others, a file may not.
    if not TABLES.isdisjoint(tables) or (tables and place.path is not None):
        message = f"{place.shown} is the database of another program."
        raise NetdynoError(message, hint="Choose another one; this one was left as it is.")
    return None


def _known_revisions() -> set[str]:
    from alembic.script import ScriptDirectory

    return {known.revision for known in ScriptDirectory.from_config(_config()).walk_revisions()}


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "netdyno.results.store:migrations")
    return config
