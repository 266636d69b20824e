"""What does a signal cost? run, train, convert and import are ended at random moments by SIGKILL, SIGTERM, SIGHUP and
SIGINT; nothing finished may be lost, repeated or mixed, and no process may be left.

PYTHONPATH=. python benchmarks/kills.py [--kills 30] [--only run train convert import] [--cells 40]
"""

import argparse
import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
from sqlalchemy import create_engine, insert
from tests.data import tiny_mnist
from tests.results.samples import make_cell, make_record

from netdyno.results.store import open_store
from netdyno.results.store.rows import to_row
from netdyno.results.store.tables import RUNS

PATIENCE_S = 5.0
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
IMPORTED = 3000
SUITE = 'runs = 3\nseconds = 0.1\n[matrix]\nnetwork = "lenet"\nframework = "null"\nbatch = [{}]\n'


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A command, how long it takes at most, what it has finished so far, and what is wrong with that in the end."""

    arguments: tuple[str, ...]
    longest_s: float
    prepare: Callable[[Path], object]
    finished: Callable[[Path], set[str]]
    wrong: Callable[[Path], str]


def main() -> None:
    options, broken = read_options(), False
    for name, kind in make_kinds(options.cells).items():
        if name not in options.only:
            continue
        lost, left, ended = 0, 0, 0
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            kind.prepare(folder)
            for number in range(options.kills):
                chance = random.Random(f"{name} {number}")
                before = kind.finished(folder)
                ended += end_once(folder, kind, chance, SIGNALS[number % len(SIGNALS)])
                lost += len(before - kind.finished(folder))
                left += len(processes_left(scratch))
            start(folder, kind.arguments).wait()
            wrong = kind.wrong(folder)
        print(
            f"{name}: {options.kills} signals, {ended} hit it, {lost} lost, {left} processes left, {wrong or 'right'}"
        )
        broken = broken or bool(lost or left or wrong)
    sys.exit(1 if broken else 0)


def end_once(folder: Path, kind: Kind, chance: random.Random, number: int) -> bool:
    """Whether the signal met the command at work."""
    process = start(folder, kind.arguments)
    time.sleep(chance.uniform(0.0, kind.longest_s))
    hit = process.poll() is None
    process.send_signal(number)
    process.wait(timeout=30)
    return hit


def processes_left(folder: str) -> list[int]:
    """Processes that work below the folder and are still there after a moment."""
    deadline = time.monotonic() + PATIENCE_S
    while found := [p.pid for p in psutil.process_iter(["cmdline"]) if folder in " ".join(p.info["cmdline"] or [])]:
        if time.monotonic() >= deadline:
            return found
        time.sleep(0.05)
    return []


def start(folder: Path, arguments: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    own = {"NETDYNO_HOME": f"{folder}/home", "NETDYNO_STORE": f"{folder}/results.sqlite"}
    environment = {**os.environ, **own, "NETDYNO_LOCK": f"{folder}/lock"}
    return subprocess.Popen(
        [sys.executable, "-m", "netdyno", *arguments],
        env=environment,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def records(folder: Path) -> set[str]:
    """The ids in the database, after checking that it is whole."""
    path = folder / "results.sqlite"
    if not path.exists():
        return set()
    with sqlite3.connect(path) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        tables = {name for (name,) in database.execute("select name from sqlite_master")}
        return {row[0] for row in database.execute("select id from runs")} if "runs" in tables else set()


def expect_records(count: int) -> Callable[[Path], str]:
    return lambda folder: "" if (found := len(records(folder))) == count else f"{found} runs instead of {count}"


def _write_export(folder: Path) -> None:
    """Of a store with many records, written at once."""
    location = folder / "other.sqlite"
    open_store(str(location)).close()
    engine = create_engine(f"sqlite:///{location}")
    rows = [to_row(make_record(make_cell(batch=number), id=f"run-{number}")) for number in range(1, IMPORTED + 1)]
    with engine.begin() as connection:
        connection.execute(insert(RUNS), rows)
    engine.dispose()
    command = [sys.executable, "-m", "netdyno", "--store", str(location), "results", "export", "-o", "export.jsonl"]
    subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL)


def _converted(folder: Path) -> str:
    """The same bytes as a conversion that nothing interrupted."""
    return "" if _digest(folder / "out") == _digest_of_whole(folder) else "another content than uninterrupted"


def _digest_of_whole(folder: Path) -> str:
    start(folder, (*CONVERT, "whole")).wait()
    return _digest(folder / "whole")


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.rec")):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


LEARN = (
    *("train", "--framework", "reference", "--batch", "16"),
    *("--steps", "3", "--evaluate-every", "2", "--seeds", "60"),
)
CONVERT = ("datasets", "convert", "shapes", "--to", "recordio", "--out")
NAMES = ("run", "train", "convert", "import")


def make_kinds(cells: int) -> dict[str, Kind]:
    suite = SUITE.format(", ".join(str(batch) for batch in range(1, cells + 1)))
    run = Kind(
        arguments=("run", "suite.toml"),
        longest_s=4.0,
        prepare=lambda folder: folder.joinpath("suite.toml").write_text(suite),
        finished=records,
        wrong=expect_records(3 * cells),
    )
    train = Kind(
        arguments=LEARN,
        longest_s=4.0,
        prepare=lambda folder: tiny_mnist.pack(folder / "home"),
        finished=records,
        wrong=expect_records(60),
    )
    convert = Kind(
        arguments=(*CONVERT, "out"),
        longest_s=3.0,
        prepare=lambda folder: None,
        finished=lambda folder: set(),
        wrong=_converted,
    )
    take_in = Kind(
        arguments=("results", "import", "export.jsonl"),
        longest_s=1.5,
        prepare=_write_export,
        finished=records,
        wrong=expect_records(IMPORTED),
    )
    return dict(zip(NAMES, (run, train, convert, take_in), strict=True))


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30, help="of each command")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--cells", type=int, default=40, help="of the suite that is run")
    return parser.parse_args()


if __name__ == "__main__":
    main()
