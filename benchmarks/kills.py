"""What does kill -9 cost? A running matrix is killed at random moments; nothing finished may be lost or repeated.

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
        lost = sum(kill_once(folder, suite, random.Random(number)) for number in range(options.kills))
        finished_by_killed = len(records(folder))
        start(folder, suite).wait()
        found = records(folder)
    repeated = len(found) - 3 * options.cells
    print(
        f"{options.kills} kills: {finished_by_killed} runs had finished, {lost} lost, {repeated} repeated or missing"
    )
    sys.exit(1 if lost or repeated else 0)


def kill_once(folder: str, suite: Path, chance: random.Random) -> int:
    """How many finished runs a kill loses."""
    before = records(folder)
    process = start(folder, suite)
    time.sleep(chance.uniform(0.3, 4.0))
    process.send_signal(signal.SIGKILL)
    process.wait()
    return len(before - records(folder))


def start(folder: str, suite: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "NETDYNO_HOME": folder, "NETDYNO_STORE": f"{folder}/results.sqlite"}
    command = [sys.executable, "-m", "netdyno.cli.main", "run", str(suite)]
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
