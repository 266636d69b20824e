"""Does a common definition cost speed? netdyno against plain loops over the framework's own layers.

    python benchmarks/against_bare.py                                             PyTorch and JAX, on the CPU
    python benchmarks/against_bare.py --every-framework                           all that are on this machine
    python benchmarks/against_bare.py --families          networks of other kinds, in three frameworks, on the CPU
    python benchmarks/against_bare.py --device cuda pytorch-2:resnet50/imagenet:256:bfloat16:compiled
    python benchmarks/against_bare.py 'pytorch-2:gpt2/text{steps=64,context=64,layers=2}:8:float32:eager'

Both sides run in processes of their own, in the same interpreter, and their blocks take turns: netdyno, bare, bare,
netdyno … A shared machine then disturbs both alike. The ratio of a pair is bare ÷ netdyno seconds; over 1 means
that netdyno is faster. Pairs are added until the 95 % interval of their median tells on which side of the goal it is.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bare_cases import bare_script, case_of, chosen_cells

from netdyno.bench.cells import Bench
from netdyno.bench.settings import Settings
from netdyno.frameworks.environments import Given, find_interpreter, read_given
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import find_spec
from netdyno.results.cell import Cell
from netdyno.runtime.task import Task
from netdyno.runtime.worker import Worker, worker_variables
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.train import timing_request
from netdyno.workloads.workload import Job

HERE = Path(__file__).parent
GOAL = 0.99
BLOCK_S = 0.6
WARM_UP_S = {"cpu": 6.0, "cuda": 2.0}
CASE_WIDTH = 47  # of 100 columns
REST_S = {"cpu": 0.25, "cuda": 0.02}  # lets the other side's threads stop spinning: OpenMP's do for 0.2 s


class Block(NamedTuple):
    """How long some steps took, by the clock and by the CPU time of all threads."""

    seconds: float
    cpu_s: float


class SideEnded(Exception):
    """One of the two processes ended by itself: says which, and its last words."""


@dataclass(frozen=True)
class Side:
    """A process that times blocks on request."""

    process: subprocess.Popen[str]
    rest_s: float

    @classmethod
    def start(cls, command: list[str], variables: Mapping[str, str], rest_s: float = 0.0) -> "Side":
        environment = {**os.environ, **variables}
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        return cls(process, rest_s)

    def wait_until_ready(self) -> None:
        self._answer()

    def block(self, steps: int) -> "Block":
        self.begin_block(steps)
        return self.end_block()

    def begin_block(self, steps: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()

    def end_block(self) -> "Block":
        seconds, cpu_s = map(float, self._answer().split())
        time.sleep(self.rest_s)
        return Block(seconds, cpu_s)

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("block:"):
                return line.partition(":")[2].strip()
        assert self.process.stderr is not None
        *_, script = [part for part in map(str, self.process.args) if part.endswith(".py")]
        raise SideEnded(f"{Path(script).name} ended: {self.process.stderr.read()[-2000:]}")


def main() -> None:
    options = read_options()
    print(f"{'case':<{CASE_WIDTH}}{'bare/s':>9}{'netdyno/s':>10}{'ratio':>7}{'95 %':>13}{'by CPU':>7} n")
    short = 0
    cells = chosen_cells(options)
    with tempfile.TemporaryDirectory() as folder:
        sides = prepare_together(cells, Path(folder), options) if options.device == "cuda" else {}
        for cell in cells:
            short += not report(cell, sides, options)
    if options.device == "cpu":
        short += not report_harness_cost()
    sys.exit(1 if short else 0)


def prepare_together(cells: list[Cell], folder: Path, options: argparse.Namespace) -> dict[Cell, tuple[Side, Side]]:
    """A first pair of processes for each cell, which all compile side by side: a GPU's machine has cores for that.
    A pair of which one ended is left out; it is tried again when it is its turn."""
    started = {}
    for number, cell in enumerate(cells):
        (folder / str(number)).mkdir()
        started[cell] = start_sides(cell, folder / str(number), read_given(options.python))
        for side in started[cell]:
            side.begin_block(1)
    return {cell: sides for cell, sides in started.items() if have_begun(sides)}


def have_begun(sides: tuple[Side, Side]) -> bool:
    """Wait for the first step of both."""
    try:
        for side in sides:
            side.wait_until_ready()
            side.end_block()
    except SideEnded:
        for side in sides:
            side.process.terminate()
            side.process.wait()
        return False
    return True


def report(cell: Cell, prepared: dict[Cell, tuple[Side, Side]], options: argparse.Namespace) -> bool:
    """Measure and print one case; did it reach the goal?"""
    try:
        return measured(cell, prepared, options)
    except SideEnded as ended:
        print(f"{named(case_of(cell))} {ended}", flush=True)
        return False


def measured(cell: Cell, prepared: dict[Cell, tuple[Side, Side]], options: argparse.Namespace) -> bool:
    found: list[tuple[Block, Block]] = []  # of one step, bare and netdyno
    for _ in range(options.processes):
        with tempfile.TemporaryDirectory() as folder:
            ready = prepared.pop(cell, None)
            sides = ready or start_sides(cell, Path(folder), read_given(options.python))
            try:
                for side in () if ready else sides:
                    side.wait_until_ready()
                found += pairs(*sides, options.pairs, WARM_UP_S[cell.device])
            finally:
                for side in sides:
                    side.stop()
        ratios = [bare.seconds / netdyno.seconds for bare, netdyno in found]
        if is_decided(ratios):
            break
    ratio, (low, high) = statistics.median(ratios), median_interval(ratios)
    bare_s, netdyno_s = (statistics.median(block.seconds for block in side) for side in zip(*found, strict=True))
    by_cpu = statistics.median(bare.cpu_s / netdyno.cpu_s for bare, netdyno in found)
    print(named(case_of(cell)) + f"{cell.batch / bare_s:>9.1f}{cell.batch / netdyno_s:>10.1f}{ratio:>7.3f}", end="")
    print(f"{low:>7.3f}{high:>6.3f}{by_cpu:>7.3f} {len(ratios)}", flush=True)
    return ratio >= GOAL


def named(case: str) -> str:
    """The first column; a case that is longer has a line of its own."""
    return f"{case:<{CASE_WIDTH}}" if len(case) < CASE_WIDTH else f"{case}\n{'':<{CASE_WIDTH}}"


def is_decided(ratios: list[float]) -> bool:
    """Is the median on one side of the goal, as far as its interval can tell?"""
    low, high = median_interval(ratios)
    return low >= GOAL or high < GOAL


def median_interval(values: list[float]) -> tuple[float, float]:
    """The 95 % interval of the median, by order statistics."""
    rank = max(math.floor(len(values) / 2 - 0.98 * math.sqrt(len(values))), 0)
    ordered = sorted(values)
    return ordered[rank], ordered[-1 - rank]


def pairs(netdyno: Side, bare: Side, count: int, warm_up_s: float) -> list[tuple[Block, Block]]:
    """One step of (bare, netdyno), after a common warm-up, in turns whose order alternates."""
    steps = settle(netdyno, bare, warm_up_s)
    found = []
    for number in range(count):
        if number % 2:
            blocks = bare.block(steps), netdyno.block(steps)
        else:
            blocks = (netdyno.block(steps), bare.block(steps))[::-1]
        found.append(tuple(Block(block.seconds / steps, block.cpu_s / steps) for block in blocks))
    return found


def settle(netdyno: Side, bare: Side, warm_up_s: float) -> int:
    """Warm both up; how many steps fill a block?"""
    for side in (netdyno, bare):
        side.begin_block(1)  # both at once: it may compile for long
    for side in (netdyno, bare):
        side.end_block()
    steps = 1
    end = time.monotonic() + warm_up_s
    while time.monotonic() < end:
        seconds = max(netdyno.block(steps).seconds, bare.block(steps).seconds)
        steps = max(1, min(10 * steps, round(steps * BLOCK_S / seconds)))
    return steps


def start_sides(cell: Cell, folder: Path, given: Given) -> tuple[Side, Side]:
    ours, theirs, variables = commands(cell, folder, given)
    netdyno, bare = (Side.start(command, variables, REST_S[cell.device]) for command in (ours, theirs))
    return netdyno, bare


def commands(cell: Cell, folder: Path, given: Given) -> tuple[list[str], list[str], Mapping[str, str]]:
    """How netdyno's side and the bare loop are started, and in which environment."""
    spec = find_spec(cell.framework)
    interpreter = find_interpreter(spec, given)
    archive = pack_worker(home() / "workers")
    bench = Bench(threads=cell.threads, folder=Path.cwd(), framework=cell.framework)
    worker = Worker.of(spec, interpreter, archive)
    timing = Settings().timing(cell.device)
    programme = bench.programme(cell)
    job = Job(cell=cell, number=1, programme=programme, worker=worker, timing=timing)
    request = timing_request("train", job)
    Task(worker=worker, request=request, folder=folder, deadline_s=0.0).prepare()
    python = str(interpreter.path)
    ours = [python, str(HERE / "netdyno_side.py"), str(archive), str(folder / "rank0" / "request.json")]
    theirs = [python, str(bare_script(spec))]
    for name in ("network", "dataset", "batch", "precision", "execution", "device", "threads"):
        theirs += [f"--{name}", str(getattr(cell, name))]
    theirs += ["--parameters", str(programme.graph.parameter_count())]
    for name, value in cell.options:
        theirs += ["--set", f"{name}={value}"]
    variables = {**worker_variables(cell.threads), **spec.variables}
    if interpreter.module_path:
        variables["PYTHONPATH"] = os.pathsep.join(interpreter.module_path)
    return ours, theirs, variables


def report_harness_cost() -> bool:
    """Seconds per step of the adapter that does nothing: all that is left is netdyno."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "netdyno", "--store", f"{folder}/results.sqlite"]
        cell = ["--framework", "null", "--network", "lenet", "--batch", "1", "--seconds", "2"]
        subprocess.run([*command, "run", *cell], check=True, capture_output=True)
        told = subprocess.run([*command, "results", "--json"], check=True, capture_output=True).stdout
    (result,) = json.loads(told)
    microseconds = 1e6 / result["figures"][result["headline"]]["value"]  # at a batch of 1
    print(f"harness cost per step (null adapter): {microseconds:.3f} µs")
    return microseconds <= 20


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="as in bare_cases.py")
    parser.add_argument("--pairs", type=int, default=16, help="of blocks in each pair of processes")
    parser.add_argument("--processes", type=int, default=3, help="pairs of fresh processes, at most")
    every, families = ("--every-framework", "that is on this machine"), ("--families", "of other kinds of networks")
    for flag, text in (every, families):
        name = flag.strip("-").replace("-", " ")
        parser.add_argument(flag, dest="list", action="store_const", const=name, default="default", help=text)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH", help="as netdyno takes it")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


if __name__ == "__main__":
    main()
