"""What the tests of results share: a fresh location on each back end, and a real PostgreSQL server."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.results.servers import Server, find_server_programs, running_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    programs = find_server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server (initdb, postgres) is installed; on Debian: apt install postgresql")
    with tempfile.TemporaryDirectory(prefix="pg") as folder, running_server(programs, Path(folder)) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be opened: nothing is there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "results.db")
    server: Server = request.getfixturevalue("postgres_server")
    return server.new_database()
