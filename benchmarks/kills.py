"""What does kill -9 cost? A running matrix is killed at random moments; nothing finished may be lost or repeated, and
no process may be left. Every other kill comes within 0.2 s of a worker's start.

python benchmarks/kills.py [--kills 30]
"""

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

PATIENCE_S = 5.0
SUITE = """
runs = 3
seconds = 0.1
[matrix]
network = "lenet"
framework = "null"
batch = [{batches}]
"""


def main() -> None:
    options = read_options()
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite.toml"
        suite.write_text(SUITE.format(batches=", ".join(str(batch) for batch in range(1, options.cells + 1))))
        lost = left = 0
        for number in range(options.kills):
            lost += kill_once(folder, suite, random.Random(number), early=number % 2 == 1)
            left += len(processes_left(folder))
        finished_by_killed = len(records(folder))
        start(folder, suite).wait()
        found = records(folder)
    repeated = len(found) - 3 * options.cells
    cost = f"{lost} lost, {repeated} repeated or missing, {left} processes left"
    print(f"{options.kills} kills: {finished_by_killed} runs had finished, {cost}")
    sys.exit(1 if lost or repeated or left else 0)


def kill_once(folder: str, suite: Path, chance: random.Random, *, early: bool) -> int:
    """How many finished runs a kill loses."""
    before = records(folder)
    process = start(folder, suite)
    if early:
        wait_for_worker(folder)
    time.sleep(chance.uniform(0.0, 0.2) if early else chance.uniform(0.3, 4.0))
    process.send_signal(signal.SIGKILL)
    process.wait()
    return len(before - records(folder))


def wait_for_worker(folder: str) -> None:
    """Until another run's logs are opened, which is when its worker starts; at most as long as a run takes."""
    runs = Path(folder) / "runs"
    known = set(runs.glob("*/run.json"))
    deadline = time.monotonic() + PATIENCE_S
    while set(runs.glob("*/run.json")) == known and time.monotonic() < deadline:
        time.sleep(0.005)


def processes_left(folder: str) -> list[int]:
    """Processes that work below the folder and are still there after a moment."""
    deadline = time.monotonic() + PATIENCE_S
    while found := [p.pid for p in psutil.process_iter(["cmdline"]) if folder in " ".join(p.info["cmdline"] or [])]:
        if time.monotonic() >= deadline:
            return found
        time.sleep(0.05)
    return []


def start(folder: str, suite: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "NETDYNO_HOME": folder, "NETDYNO_STORE": f"{folder}/results.sqlite"}
    command = [sys.executable, "-m", "netdyno", "run", str(suite)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def records(folder: str) -> set[str]:
    """The ids in the database, after checking that it is whole."""
    path = Path(folder) / "results.sqlite"
    if not path.exists():
        return set()
    with sqlite3.connect(path) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        tables = {name for (name,) in database.execute("select name from sqlite_master")}
        return {row[0] for row in database.execute("select id from runs")} if "runs" in tables else set()


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--cells", type=int, default=40)
    return parser.parse_args()


if __name__ == "__main__":
    main()
