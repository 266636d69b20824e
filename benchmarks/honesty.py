"""Does netdyno say "faster" or "slower" only when it is so? On made-up runs, then on measured ones.

    python benchmarks/honesty.py [simulated] [measured] [--comparisons 20] [--runs 5]

Simulated: see honesty_simulated.py; under a minute, needs no framework. Measured: a cell against itself, and a worker
slowed by 5 %. Each comparison is a suite of its own: both sides take turns, as in every suite. On one thread, so
that a machine with few cores has one left for everything else.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import honesty_simulated

from netdyno.bench.suites import default_framework
from netdyno.frameworks.environments import find_interpreter
from netdyno.frameworks.spec import find_spec

PARTS = ("simulated", "measured")
TWINS = Path(__file__).parent / "twins"
SUITE = """
runs = {runs}
seconds = {seconds}
seed = {seed}
[matrix]
network = "lenet/mnist"
framework = ["{a}", "{b}"]
execution = "eager"
threads = 1
"""


def main() -> None:
    options = read_options()
    are_honest = [
        honesty_simulated.is_honest() if part == "simulated" else is_honest(options)
        for part in options.parts or PARTS
    ]
    sys.exit(0 if all(are_honest) else 1)


def is_honest(options: argparse.Namespace) -> bool:
    """Measured: at most one of the comparisons with itself is wrong, and no slow-down is missed."""
    ours = default_framework()
    same = [compare((ours, "twin"), options.runs, options.seconds, seed) for seed in range(options.comparisons)]
    alarms = sum(verdict in ("faster", "slower") for verdict in same)
    print(f"a cell against itself: {dict(Counter(same))}")
    slowed = [compare(("paced", "slowed"), options.runs, options.seconds, seed) for seed in range(options.slowed)]
    print(f"a worker against one slowed by 5 %: {dict(Counter(slowed))}")
    return alarms <= 1 and set(slowed) <= {"slower"}


def compare(sides: tuple[str, str], runs: int, seconds: float, seed: int) -> str:
    """The verdict on B against A, measured afresh."""
    a, b = sides
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite.toml"
        suite.write_text(SUITE.format(runs=runs, seconds=seconds, seed=seed, a=a, b=b))
        netdyno(folder, "run", str(suite), *(borrowed_from(a, b) if b == "twin" else ()))
        told = netdyno(folder, "compare", f"framework={a}", f"framework={b}", "--json")
        (comparison,) = json.loads(told)["comparisons"]
    words = f"{comparison['ratio']:.4f} in [{comparison['low']:.4f}, {comparison['high']:.4f}]"
    print(f"  {b} ÷ {a}: {words} {comparison['verdict']}", flush=True)
    return str(comparison["verdict"])


def borrowed_from(a: str, b: str) -> tuple[str, str]:
    """Run B in A's interpreter."""
    return "--python", f"{b}={find_interpreter(find_spec(a), {}).path}"


def netdyno(folder: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "netdyno", "--store", f"{folder}/results.sqlite", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "NETDYNO_SPECS": str(TWINS)}, check=False
    )
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return done.stdout


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=" ".join(PARTS))
    parser.add_argument("--comparisons", type=int, default=20, help="of a cell with itself")
    parser.add_argument("--slowed", type=int, default=3, help="comparisons with a slowed worker")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    if not set(options.parts) <= set(PARTS):
        parser.error(f"expected parts among {PARTS}, received {options.parts}")
    return options


if __name__ == "__main__":
    main()
