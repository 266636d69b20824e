"""Eight writers on one PostgreSQL database, two of them with the same cells, killed and started again at random while
the server itself is stopped and started: every run that a worker finished is there once, and nobody is blocked.

PYTHONPATH=. python benchmarks/writers.py [--kills 40] [--restarts 4]
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.results.servers import Server, find_server_programs, running_server

from netdyno.results.store import open_store

WRITERS, CELLS, RUNS = 8, 6, 3
LONGEST_S = 120.0  # for a writer whom nobody ends
SUITE = 'runs = {}\nseconds = 0.1\n[matrix]\nnetwork = "lenet"\nframework = "null"\nbatch = [{}]\n'


class Writer:
    """As on a machine of its own: a home, a lock, and a suite."""

    def __init__(self, folder: Path, number: int, store: str) -> None:
        self.folder, self.batches = folder / f"writer{number}", own_batches(number)
        self.folder.mkdir()
        (self.folder / "suite.toml").write_text(SUITE.format(RUNS, ", ".join(map(str, self.batches))))
        own = {"NETDYNO_HOME": f"{self.folder}/home", "NETDYNO_LOCK": f"{self.folder}/lock", "NETDYNO_STORE": store}
        self.environment = {**os.environ, **own}
        self.process = self.start()

    def start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "netdyno", "run", "suite.toml"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=log, stderr=log)
        return self.process

    def start_again_if_ended(self) -> None:
        if self.process.poll() is not None:
            self.start()

    def finish(self) -> bool:
        """Whether the same command, as often as it was refused, came to its end in time."""
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline:
            try:
                if self.process.wait(timeout=deadline - time.monotonic()) == 0:
                    return True
            except subprocess.TimeoutExpired:
                break
            time.sleep(0.5)
            self.start()
        self.process.kill()
        return False

    def finished_runs(self) -> set[str]:
        """Those whose worker said that it is done, by what lies in the home."""
        events = (self.folder / "home" / "runs").glob("*/rank0/events.jsonl")
        return {path.parents[1].name for path in events if '"done"' in path.read_text(errors="replace")}


def own_batches(number: int) -> range:
    """Writers 0 and 1 have the same cells, all others their own."""
    first = 1 + CELLS * max(number, 1)
    return range(first, first + CELLS)


def main() -> None:
    options, programs = read_options(), find_server_programs()
    if programs is None:
        sys.exit("expected a PostgreSQL server (initdb, postgres); on Debian: apt install postgresql")
    with (
        tempfile.TemporaryDirectory(prefix="pg") as own,
        tempfile.TemporaryDirectory() as scratch,
        running_server(programs, Path(own)) as server,
    ):
        sys.exit(1 if disturb(server, Path(scratch), options) else 0)


def disturb(server: Server, folder: Path, options: argparse.Namespace) -> int:
    store, chance = server.new_database("team"), random.Random(options.seed)
    writers = [Writer(folder, number, store) for number in range(WRITERS)]
    steps = ["kill"] * options.kills + ["restart"] * options.restarts
    chance.shuffle(steps)
    for step in steps:
        time.sleep(chance.uniform(0.1, 1.5))
        if step == "restart":
            server.stop()
            time.sleep(1.0)
            server.start()
        else:
            chosen = chance.choice(writers)
            chosen.process.kill()
            chosen.process.wait()
        for writer in writers:
            writer.start_again_if_ended()
    blocked = [number for number, writer in enumerate(writers) if not writer.finish()]
    return report(store, writers, blocked, options)


def report(store: str, writers: list[Writer], blocked: list[int], options: argparse.Namespace) -> int:
    with open_store(store, create=False) as opened:
        records = list(opened.records())
    there = {record.id for record in records}
    places = Counter((record.cell.key, record.machine, record.series, record.number) for record in records)
    lost = set().union(*(writer.finished_runs() for writer in writers)) - there
    numbers = Counter(record.cell.batch for record in records if record.outcome == "measured")
    short = [batch for writer in writers for batch in writer.batches if numbers[batch] < RUNS]
    twice = [place for place, count in places.items() if count > 1]
    print(
        f"{WRITERS} writers, {options.kills} kills, {options.restarts} restarts of the server: {len(records)} runs "
        f"({RUNS * CELLS * (WRITERS - 1)} at least), {len(lost)} lost, {len(twice)} places taken twice, "
        f"{len(set(short))} cells short, {len(blocked)} writers blocked"
    )
    return len(lost) + len(twice) + len(short) + len(blocked)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--restarts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
