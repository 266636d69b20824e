"""A PostgreSQL server for tests: where its programs are, and a fresh database on it."""

import shutil
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

import psycopg

PASSWORD = "p@ss:word/with#signs"
PASSWORD_IN_URL = "p%40ss%3Aword%2Fwith%23signs"


@dataclass(frozen=True)
class Server:
    port: int

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
