"""A store's schema: made from nothing, equal to the tables, refused when newer."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from tests.results.samples import make_record

import netdyno
from netdyno.errors import NetdynoError
from netdyno.results.store import migrations, open_store
from netdyno.results.store.location import read_location
from netdyno.results.store.tables import GRAPHS, LIMITS, METADATA, PROOFS, REVISION, RUNS, VERSION_TABLE


@contextmanager
def connected(location: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(read_location(location).url)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_an_empty_place_becomes_a_store(location: str) -> None:
    open_store(location).close()
    with connected(location) as connection:
        assert set(sa.inspect(connection).get_table_names()) == {
            RUNS.name,
            PROOFS.name,
            LIMITS.name,
            GRAPHS.name,
            VERSION_TABLE,
        }


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    open_store(str(path)).close()
    before = path.read_bytes()
    open_store(str(path)).close()
    assert path.read_bytes() == before


def test_the_newest_migration_equals_the_tables(location: str) -> None:
    open_store(location).close()
    with connected(location) as connection:
        options = {"version_table": VERSION_TABLE, "compare_type": True, "compare_server_default": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), METADATA) == []
        unique = sa.inspect(connection).get_unique_constraints(RUNS.name)
    assert [constraint["column_names"] for constraint in unique] == [["machine", "cell_key", "series", "number"]]


def test_the_revision_that_is_taken_for_current_is_the_newest_migration() -> None:
    assert ScriptDirectory(str(Path(migrations.__path__[0]))).get_current_head() == REVISION


def test_a_database_of_a_newer_netdyno_is_refused_untouched(location: str) -> None:
    with open_store(location) as store:
        store.add(make_record())
    with connected(location) as connection:
        connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    for create in (True, False):
        with pytest.raises(NetdynoError, match=r"written by a newer netdyno \(schema 9999\).*Upgrade netdyno"):
            open_store(location, create=create)
    with connected(location) as connection:
        assert connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all() == ["9999"]
        assert connection.execute(sa.select(sa.func.count()).select_from(RUNS)).scalar() == 1


def test_a_records_table_of_someone_else_is_left_alone(location: str) -> None:
    with connected(location) as connection:
        connection.execute(sa.text("CREATE TABLE records (title TEXT)"))
    with pytest.raises(NetdynoError, match="another program"):
        open_store(location)
    with connected(location) as connection:
        assert sa.inspect(connection).get_table_names() == ["records"]


def test_a_migration_that_fails_leaves_nothing_behind(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from alembic import op

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr(op, "create_index", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        open_store(location)
    with connected(location) as connection:
        assert sa.inspect(connection).get_table_names() == []
    monkeypatch.undo()
    open_store(location).close()


def test_the_package_needs_nothing_from_its_repository(tmp_path: Path) -> None:
    """As installed from a wheel: copied elsewhere, without alembic.ini, started from another folder."""
    shutil.copytree(Path(netdyno.__file__).parent, tmp_path / "site 50%" / "netdyno")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site 50%')!r}); import netdyno.results.store as s;"
        "assert 'site 50%' in s.__file__; s.open_store('results.db').close()"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, cwd=tmp_path)
    with sqlite3.connect(tmp_path / "results.db") as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)


def upgraded_to(connection: sa.Connection, revision: str) -> None:
    """Migrate as an earlier netdyno would have left it."""
    config = Config()
    config.set_main_option("script_location", "netdyno.results.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
