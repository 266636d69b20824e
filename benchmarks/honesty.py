"""Does netdyno say "faster" or "slower" only when it is so? A cell against itself, and a worker slowed by 5 %.

    python benchmarks/honesty.py [--comparisons 20] [--runs 5]

Each comparison is a suite of its own: both sides take turns, as in every suite. On one thread, so that a machine
with few cores has one left for everything else.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from netdyno.frameworks.environments import find_interpreter
from netdyno.frameworks.spec import find_spec
from netdyno.harness.suites import default_framework

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
    ours = default_framework()
    same = [compare((ours, "twin"), options.runs, options.seconds, seed) for seed in range(options.comparisons)]
    alarms = options.comparisons - Counter(same)["cannot tell"]
    print(f"a cell against itself: {dict(Counter(same))}")
    slowed = [compare(("paced", "slowed"), options.runs, options.seconds, seed) for seed in range(options.slowed)]
    print(f"a worker against one slowed by 5 %: {dict(Counter(slowed))}")
    sys.exit(0 if alarms <= 1 and set(slowed) <= {"slower"} else 1)


def compare(sides: tuple[str, str], runs: int, seconds: float, seed: int) -> str:
    """The verdict on B against A, measured afresh."""
    a, b = sides
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite.toml"
        suite.write_text(SUITE.format(runs=runs, seconds=seconds, seed=seed, a=a, b=b))
        netdyno(folder, "run", str(suite), *(borrowed_from(a, b) if b == "twin" else ()))
        told = netdyno(folder, "compare", f"framework={a}", f"framework={b}", "--json")
        (comparison,) = json.loads(told)
    words = f"{comparison['ratio']:.4f} in [{comparison['low']:.4f}, {comparison['high']:.4f}]"
    print(f"  {b} ÷ {a}: {words} {comparison['verdict']}", flush=True)
    return str(comparison["verdict"])


def borrowed_from(a: str, b: str) -> tuple[str, str]:
    """Run B in A's interpreter."""
    return "--python", f"{b}={find_interpreter(find_spec(a), {}).path}"


def netdyno(folder: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "netdyno.cli.main", "--store", f"{folder}/results.sqlite", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "NETDYNO_SPECS": str(TWINS)}, check=False
    )
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return done.stdout


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=20, help="of a cell with itself")
    parser.add_argument("--slowed", type=int, default=3, help="comparisons with a slowed worker")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
