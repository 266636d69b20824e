"""What the tests of results share: a fresh location on each back end, and a real PostgreSQL server."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.results.servers import PASSWORD, Server, find_server_programs

STARTS_WITHIN_S = 60


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    programs = find_server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server (initdb, postgres) is installed; on Debian: apt install postgresql")
    with tempfile.TemporaryDirectory(prefix="pg") as folder, _running_server(programs, Path(folder)) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be opened: nothing is there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "results.db")
    server: Server = request.getfixturevalue("postgres_server")
    return server.new_database()


@contextlib.contextmanager
def _running_server(programs: Path, folder: Path) -> Iterator[Server]:
    account = _unprivileged_account()
    if account is not None:
        shutil.chown(folder, account, pwd.getpwnam(account).pw_gid)
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    data = folder / "data"
    initialise = [programs / "initdb", "-D", data, "-U", "netdyno", "-A", "scram-sha-256"]
    initialise += [f"--pwfile={folder / 'password'}", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(initialise, check=True, user=account, cwd=folder, stdout=subprocess.DEVNULL)
    server = Server(port=_free_port())
    options = {"listen_addresses": "127.0.0.1", "port": server.port, "unix_socket_directories": "", "fsync": "off"}
    start = [programs / "postgres", "-D", data, *(f"--{name}={value}" for name, value in options.items())]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(start, user=account, cwd=folder, stdout=log, stderr=log)
    try:
        _wait_until_up(server, process, folder / "server.log")
        yield server
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nothing in it is worth a clean end
        process.wait(STARTS_WITHIN_S)


def _unprivileged_account() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(server: Server, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline_s = time.monotonic() + STARTS_WITHIN_S
    while process.poll() is None and time.monotonic() < deadline_s:
        with contextlib.suppress(psycopg.OperationalError):
            server.new_database(f"probe_{uuid.uuid4().hex}")
            return
        time.sleep(0.1)
    pytest.fail(f"the PostgreSQL server did not start: {log.read_text()}")
