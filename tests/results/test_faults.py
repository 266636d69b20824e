"""What a user is told when a store cannot be opened or written: one line, a hint, and never a password."""

import contextlib
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool
from tests.results.samples import make_record
from tests.results.servers import PASSWORD, Server

from netdyno.errors import NetdynoError
from netdyno.results.store import open_store

NOBODY = 65534


def refusal(location: str, *, create: bool = True) -> NetdynoError:
    with pytest.raises(NetdynoError) as caught:
        open_store(location, create=create)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return caught.value


@pytest.fixture
def bound_by_permissions() -> Iterator[Path]:
    """A folder, and a test that may not write where permissions forbid it: root would."""
    with tempfile.TemporaryDirectory() as folder:
        was = os.geteuid()
        if was == 0:
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield Path(folder)
        finally:
            os.seteuid(was)
            os.chmod(folder, 0o700)


@contextlib.contextmanager
def disk_full(pages: int) -> Iterator[None]:
    """SQLite reports a full disk when a file would outgrow so many pages."""

    def limit(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(Pool, "connect", limit)
    try:
        yield
    finally:
        event.remove(Pool, "connect", limit)


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "a" / "b" / "results.db")) as store:
        store.add(make_record())
    assert (tmp_path / "a" / "b" / "results.db").exists()


def test_a_sqlite_url_is_a_path(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'results.db'}").close()
    assert (tmp_path / "results.db").exists()


@pytest.mark.parametrize("name", ["50%.db", "a?b.db", "a#b.db", ":memory:", "file:x.db", "späť.db"])
def test_odd_file_names_are_only_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(name) as store:
        store.add(make_record())
    assert (tmp_path / name).stat().st_size > 0


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "folder of" in str(refusal(str(tmp_path / "file" / "deeper" / "results.db")))


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    assert "is a folder" in str(refusal(str(tmp_path)))


def test_a_forbidden_folder_is_named(bound_by_permissions: Path) -> None:
    bound_by_permissions.chmod(0o500)
    assert "permission denied" in str(refusal(str(bound_by_permissions / "new" / "results.db")))
    assert "cannot be opened or created" in str(refusal(str(bound_by_permissions / "results.db")))
    assert list(bound_by_permissions.iterdir()) == []


def test_a_read_only_file_is_refused_before_anything_is_measured(bound_by_permissions: Path) -> None:
    path = bound_by_permissions / "results.db"
    with open_store(str(path)) as store:
        store.add(make_record())
    path.chmod(0o400)
    before = path.read_bytes()
    assert "read-only" in str(refusal(str(path)))
    assert path.read_bytes() == before
    with open_store(str(path), create=False) as store:
        assert store.records() == [make_record()]
        with pytest.raises(NetdynoError, match="read-only"):
            store.add(make_record(number=2))


def test_a_file_in_a_read_only_folder_is_refused(bound_by_permissions: Path) -> None:
    open_store(str(bound_by_permissions / "results.db")).close()
    bound_by_permissions.chmod(0o500)
    assert "Choose a file and folder you may write" in str(refusal(str(bound_by_permissions / "results.db")))


def test_a_store_in_a_read_only_folder_can_be_read(bound_by_permissions: Path) -> None:
    path = bound_by_permissions / "results # 50%.db"
    with open_store(str(path)) as store:
        store.add(make_record())
    bound_by_permissions.chmod(0o500)
    with open_store(str(path), create=False) as store:
        assert store.records() == [make_record()]
    assert [found.name for found in bound_by_permissions.iterdir()] == [path.name]


def test_a_log_that_cannot_be_read_in_a_read_only_folder_is_not_left_out(bound_by_permissions: Path) -> None:
    path = bound_by_permissions / "results.db"
    with open_store(str(path)) as store:
        store.add(make_record())
        log = Path(f"{path}-wal").read_bytes()
    Path(f"{path}-wal").write_bytes(log)
    bound_by_permissions.chmod(0o500)
    assert "copy it, with those that end in -wal" in str(refusal(str(path), create=False))


def test_a_disk_that_is_full_at_the_start_is_named(tmp_path: Path) -> None:
    with disk_full(pages=2):
        assert "disk is full" in str(refusal(str(tmp_path / "results.db")))
    with open_store(str(tmp_path / "results.db")) as store:
        assert store.records() == []


def test_a_disk_that_fills_up_costs_only_the_record_in_flight(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with open_store(str(path)) as store:
        store.add(make_record())
    with disk_full(pages=1), open_store(str(path)) as store:
        with pytest.raises(NetdynoError, match="the disk is full, nothing was written"):
            store.add(make_record(number=2, reason="x" * 100_000))
        assert store.records() == [make_record()]
    with open_store(str(path)) as store:
        store.add(make_record(number=2, reason="x" * 100_000))
        assert len(store.records()) == 2


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be taken for one by its size alone\n" * 20)
    before = path.read_bytes()
    assert "is not a database" in str(refusal(str(path)))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()
    assert "another program" in str(refusal(str(path)))
    assert path.read_bytes() == before


def test_a_store_that_is_not_there_is_not_made_for_reading(tmp_path: Path) -> None:
    assert "no results at" in str(refusal(str(tmp_path / "deep" / "results.db"), create=False))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_database_is_not_a_store_for_reading(postgres_server: Server) -> None:
    assert "no results at" in str(refusal(postgres_server.new_database(), create=False))


@pytest.mark.parametrize("location", ["", " ", "a\0b", "sqlite://", "sqlite:///:memory:", "mysql://root:secret@db/x"])
def test_a_place_that_cannot_be_meant_is_refused(location: str) -> None:
    error = refusal(location)
    assert "Expected the path of a SQLite file or postgresql://" in error.hint
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    "location", ["postgresql://user:secret@host:port/db", "://user:secret@host", "postgresql:// user:secret@host"]
)
def test_a_malformed_url_is_refused_without_its_password(location: str) -> None:
    error = refusal(location)
    assert "secret" not in str(error)
    assert "secret" not in str(error.__cause__)


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    error = refusal("postgresql://me:secret@127.0.0.1:1/results?connect_timeout=2")
    assert "cannot reach postgresql://me@127.0.0.1:1/results" in str(error)
    assert "secret" not in str(error)
    error = refusal("postgres://127.0.0.1:1/results?password=secret")
    assert "secret" not in str(error)


def test_a_server_that_may_only_be_read_is_refused_before_anything_is_measured(postgres_server: Server) -> None:
    location = postgres_server.new_database()
    with open_store(location) as store:
        store.add(make_record())
    readable = f"{location}?options=-c%20default_transaction_read_only%3Don"
    assert "is read-only" in str(refusal(readable))
    with open_store(readable, create=False) as store:
        assert store.records() == [make_record()]


def test_a_wrong_password_is_said_but_not_repeated(postgres_server: Server) -> None:
    error = refusal(postgres_server.url("postgres", password="wrong-secret"))
    assert "refused the user or the password" in str(error)
    assert "wrong-secret" not in str(error)


def test_a_database_that_does_not_exist_is_named(postgres_server: Server) -> None:
    error = refusal(postgres_server.url("nowhere"))
    assert "has no such database" in str(error)
    assert PASSWORD not in str(error)


def test_an_unknown_option_in_a_url_is_one_line() -> None:
    error = refusal("postgresql://me:secret@127.0.0.1:1/results?colour=red")
    assert "colour" in str(error)
    assert "secret" not in str(error)


def test_a_missing_driver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    error = refusal("postgresql://me:secret@127.0.0.1:1/results")
    assert "pip install 'netdyno[postgres]'" in str(error)
    assert "secret" not in str(error)
