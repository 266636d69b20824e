"""Does the loader keep up? resnet50 on JPEGs, by PyTorch's own pipeline and by netdyno's, with few and many threads.

    python benchmarks/input.py                                   on this machine's CPU
    python benchmarks/input.py --gpus 1 --batch 256 --threads 4,8,16 --precision bfloat16 --execution compiled

The JPEGs (2,000, of mixed sizes of at least 224×224) are made here, by seed, and brought in as a part of ImageNet, in
a home of their own that is gone afterwards; --store keeps the results. For each pipeline and number of threads the
table has images/s of loading alone, of computing alone and of training with both, and what netdyno says of it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from formats_photos import make_photos

from netdyno.frameworks.home import home
from netdyno.results.result import Result, results_of
from netdyno.results.store import open_store
from netdyno.results.words import number

FRAMEWORK = "pytorch-2"
NETWORK = "resnet50/imagenet"
COLUMNS = (
    f"{'data':<10}{'threads':>8}{'load/s':>10}{'feed/s':>10}{'compute/s':>11}{'real/s':>9}{'of compute':>12}  verdict"
)


def main() -> None:
    options = read_options()
    with tempfile.TemporaryDirectory(prefix="netdyno-input-") as name:
        root = Path(name)
        say(f"making {options.jpegs} JPEGs")
        make_photos(root / "photos", options.jpegs)
        (root / "photos" / "val").symlink_to(root / "photos" / "train")
        variables = home_beside(root / "home", options.store)
        netdyno(variables, "datasets", "get", "imagenet", "--from", str(root / "photos"))
        for data in options.data.split(","):
            for threads in options.threads.split(","):
                netdyno(variables, "run", *cell(options, data, threads))
        with open_store(variables["NETDYNO_STORE"]) as store:
            tell([result for result in results_of(store.records()) if result.cell.data != "synthetic"])


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--jpegs", type=int, default=2000)
    parser.add_argument("--data", default="packed,native")
    parser.add_argument("--gpus", type=int, default=0, help="the CPU if 0")
    parser.add_argument("--batch", default="16")
    parser.add_argument("--threads", default=str(len(os.sched_getaffinity(0))), help="that load, such as 4,8,16")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--execution", default="eager")
    parser.add_argument("--runs", default="3")
    parser.add_argument("--seconds", default="6")
    parser.add_argument("--store", default="", help="a results file to keep")
    return parser.parse_args()


def home_beside(folder: Path, store: str) -> dict[str, str]:
    """A home without datasets, whose frameworks are those that are installed."""
    folder.mkdir()
    installed = home() / "environments"
    if installed.exists():
        (folder / "environments").symlink_to(installed.resolve())
    return {"NETDYNO_HOME": str(folder), "NETDYNO_STORE": store or str(folder / "results.sqlite")}


def cell(options: argparse.Namespace, data: str, threads: str) -> list[str]:
    where = ["--gpus", str(options.gpus)] if options.gpus else ["--cpu"]
    how = ["--precision", options.precision, "--execution", options.execution, "--batch", options.batch]
    effort = ["--runs", options.runs, "--seconds", options.seconds]
    what = ["--network", NETWORK, "--framework", FRAMEWORK, "--data", data, "--threads", threads]
    return what + where + how + effort


def tell(results: list[Result]) -> None:
    print(f"\n{COLUMNS}")
    for result in results:
        read, speed = result.readings, result.head.value if result.head else float("nan")
        load, feed, compute = (read.get(f"{what}_items_per_s", float("nan")) for what in ("load", "feed", "compute"))
        speeds = f"{number(load):>10}{number(feed):>10}{number(compute):>11}"
        names = f"{result.cell.data:<10}{result.cell.threads:>8}"
        print(f"{names}{speeds}{number(speed):>9}{speed / compute:>12.1%}  {result.verdict}", flush=True)


def netdyno(variables: dict[str, str], *arguments: str) -> None:
    say("netdyno " + " ".join(arguments))
    command = [sys.executable, "-m", "netdyno", *arguments]
    subprocess.run(command, env={**os.environ, **variables}, check=True)


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
