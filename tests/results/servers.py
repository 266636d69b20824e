"""A PostgreSQL server for tests: where its programs are, one that runs until it is left, fresh databases on it."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg

PASSWORD = "p@ss:word/with#signs"
PASSWORD_IN_URL = "p%40ss%3Aword%2Fwith%23signs"
STARTS_WITHIN_S = 60


class Server:
    """On a port of this machine alone."""

    def __init__(self, programs: Path, folder: Path, account: str | None) -> None:
        self.port, self._folder, self._account = _free_port(), folder, account
        options = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "", "fsync": "off"}
        self._command = [programs / "postgres", "-D", folder / "data"]
        self._command += [f"--{name}={value}" for name, value in options.items()]

    def start(self) -> None:
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, user=self._account, cwd=self._folder, stdout=log, stderr=log
            )
        deadline_s = time.monotonic() + STARTS_WITHIN_S
        while time.monotonic() < deadline_s and self._process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                self.new_database(f"probe_{uuid.uuid4().hex}")
                return
            time.sleep(0.1)
        raise AssertionError(f"the PostgreSQL server did not start: {(self._folder / 'server.log').read_text()}")

    def stop(self) -> None:
        """At once, in the middle of whatever it does for others."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(STARTS_WITHIN_S)

    def new_database(self, name: str = "") -> str:
        """The URL of a database just made, as a user would write it."""
        name = name or f"test_{uuid.uuid4().hex}"
        with psycopg.connect(
            host="127.0.0.1", port=self.port, user="netdyno", password=PASSWORD, dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))
        return self.url(name)

    def url(self, database: str, password: str = PASSWORD_IN_URL) -> str:
        return f"postgresql://netdyno:{password}@127.0.0.1:{self.port}/{database}"


def find_server_programs() -> Path | None:
    """The folder that holds both initdb and postgres."""
    folders = [Path(found).resolve().parent for found in [shutil.which("postgres")] if found]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if shutil.which("pg_config"):
        said = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=False)
        folders.append(Path(said.stdout.strip()))
    return next((f for f in folders if (f / "initdb").exists() and (f / "postgres").exists()), None)


@contextlib.contextmanager
def running_server(programs: Path, folder: Path) -> Iterator[Server]:
    account = _unprivileged_account()
    if account is not None:
        shutil.chown(folder, account, pwd.getpwnam(account).pw_gid)
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    initialise = [programs / "initdb", "-D", folder / "data", "-U", "netdyno", "-A", "scram-sha-256"]
    initialise += [f"--pwfile={folder / 'password'}", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(initialise, check=True, user=account, cwd=folder, stdout=subprocess.DEVNULL)
    server = Server(programs, folder, account)
    server.start()
    try:
        yield server
    finally:
        server.stop()


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
