"""How long do commands take over a large store, and how much memory? Over the records that report_size.py draws.

    python benchmarks/large_store.py [--records 100000] [--keep FOLDER] [--only NAME ...] [--source FOLDER]

Each command is a process of its own; seconds are its wall clock and its own processor time. `--source` measures the
netdyno of another checkout. A command that takes more than 10 minutes, or more memory than --most, is stopped.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from report_size import cells, write_store

STOP_S = 600
GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one command came to."""

    wall_s: float
    user_s: float
    peak_mib: float
    code: int
    output_mb: float


def main() -> None:
    options = read_options()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        store = folder / f"{options.records}.sqlite"
        if not store.exists():
            write_store(store, options.records)
        print(f"{options.records:,} records, load average {os.getloadavg()[0]:.1f}")
        print(f"{'command':<16} {'wall s':>7} {'user s':>7} {'peak MiB':>9} {'exit':>5} {'output MB':>10}")
        for name, words in commands(Path(scratch)).items():
            if not options.only or name in options.only:
                print(line(name, measure(words, store, Path(scratch), options)), flush=True)


def commands(folder: Path) -> dict[str, list[str]]:
    """By name; the cells are the first of the store, in both of its executions."""
    first, second = (selector(cell) for cell in list(_pair()))
    everything = ["execution=eager", "execution=compiled"]
    return {
        "results": ["results"],
        "results one": ["results", first],
        "results --json": ["results", "--json"],
        "history one": ["history", first],
        "compare two": ["compare", first, second],
        "compare all": ["compare", *everything],
        "compare --json": ["compare", *everything, "--json"],
        "export csv": ["results", "export", "-o", str(folder / "all.csv")],
        "export json": ["results", "export", "-o", str(folder / "all.jsonl")],
        "report": ["report", "-o", str(folder / "page.html")],
    }


def selector(cell: dict[str, str | int]) -> str:
    return ",".join(f"{name}={value}" for name, value in cell.items())


def measure(words: list[str], store: Path, folder: Path, options: argparse.Namespace) -> Seen:
    command = [sys.executable, "-m", "netdyno", "--store", str(store), *words]
    source = {"PYTHONPATH": str(options.source / "src")} if options.source else {}
    start = time.monotonic()
    with (folder / "output").open("wb") as output, (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=errors,
            env={**os.environ, **source},
            preexec_fn=lambda: limit(options.most),
        )
        _, status, usage = os.wait4(process.pid, 0)
    return Seen(
        wall_s=time.monotonic() - start,
        user_s=usage.ru_utime,
        peak_mib=usage.ru_maxrss / 1024,
        code=os.waitstatus_to_exitcode(status),
        output_mb=(folder / "output").stat().st_size / 1e6,
    )


def limit(most_gib: int) -> None:
    """In the process itself, so that nothing else of the machine suffers."""
    resource.setrlimit(resource.RLIMIT_AS, (most_gib * GIB, most_gib * GIB))
    resource.setrlimit(resource.RLIMIT_CPU, (STOP_S, STOP_S))


def line(name: str, seen: Seen) -> str:
    figures = f"{seen.wall_s:>7.1f} {seen.user_s:>7.1f} {seen.peak_mib:>9,.0f}"
    return f"{name:<16} {figures} {seen.code:>5} {seen.output_mb:>10.1f}"


def _pair() -> list[dict[str, str | int]]:
    """The fields of the first cell that exists in two executions, in each of them."""
    names = ("network", "dataset", "framework", "device", "batch", "precision", "threads", "execution")
    before: dict[str, str | int] = {}
    for cell in cells():
        fields = {name: getattr(cell, name) for name in names}
        if before and {**before, "execution": ""} == {**fields, "execution": ""}:
            return [before, fields]
        before = fields
    raise SystemExit("no cell has two executions")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="keep the store in this folder")
    parser.add_argument("--only", nargs="+", default=[], help="only these commands")
    parser.add_argument("--source", type=Path, help="another checkout")
    parser.add_argument("--most", type=int, default=16, help="GiB that a command may take")
    return parser.parse_args()


if __name__ == "__main__":
    main()
