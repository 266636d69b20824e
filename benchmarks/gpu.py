"""What netdyno reads on one GPU, checked part by part, each in under ten minutes.

    python benchmarks/gpu.py float32      the nine cases, strict float32: table and run-to-run spread
    python benchmarks/gpu.py bfloat16     the nine cases, bfloat16, the fastest execution of each
    python benchmarks/gpu.py spread       resnet50 and vgg16 at batch 256: does a second run say the same?
    python benchmarks/gpu.py bare-float32 bare-bfloat16     netdyno against bare loops, in the executions found above
    python benchmarks/gpu.py bare-families      networks of other kinds against bare loops, in bfloat16, also JAX's
    python benchmarks/gpu.py families     the same through `netdyno run`: MFU, watts and what each is bound by
    python benchmarks/gpu.py resnet50     the best speed over batches, with the time of forward, backward and update
    python benchmarks/gpu.py monitor      what the monitor costs, how often the device refreshes, its two energies
    python benchmarks/gpu.py largest      the largest batch of resnet50 and vgg16

Several parts may be named. Results go where NETDYNO_STORE or NETDYNO_HOME say.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from against_bare import Side, commands

from netdyno.bench.cells import Bench
from netdyno.devices.monitor.client import monitoring
from netdyno.devices.monitor.trace import read_trace
from netdyno.devices.nvidia.gpus import visible_gpus
from netdyno.frameworks.home import home
from netdyno.results.result import Result, results_of
from netdyno.results.statistics import rate
from netdyno.results.store import open_store
from netdyno.runtime.readings.energy import during, joules_by_counter, joules_by_power

HERE = Path(__file__).parent
FRAMEWORK = "pytorch-2"
LARGEST_SPREAD = 0.001  # run to run, where the GPU is what limits
LONGEST_S = 600  # for the nine cases
LARGEST_COST = 0.001  # of the monitor
BATCHES = (256, 512, 1024, 2048)
FAMILIES = ("vit-b16/imagenet:64", "gpt2/text:8", "bert-base/text:32", "lstm/text:128", "dcgan/faces64:128")
PAIRS = 12
BLOCK_S = 0.8


def main(parts: Sequence[str]) -> None:
    short = [part for part in parts if not PARTS[part]()]
    if short:
        sys.exit(f"short of their goal: {', '.join(short)}")


def float32() -> bool:
    return nine("float32", "eager")


def bfloat16() -> bool:
    return nine("bfloat16", "fastest")


def nine(precision: str, execution: str) -> bool:
    """Measure the nine cases; is everything measured, and in time? How much runs differ is told, not judged: steps as
    short as these differ by about 1 % from process to process; `spread` judges where they are long."""
    start = time.monotonic()
    netdyno("run", f"gpu-{precision}", *options())
    found = [
        result
        for result in results()
        if (result.cell.precision, result.cell.execution) == (precision, execution)
        and result.cell.batch in (8, 64, 128)
    ]
    tell_spread(found)
    seconds = time.monotonic() - start
    print(f"took {seconds:.0f} s", flush=True)
    return seconds <= LONGEST_S and len([result for result in found if result.head]) == 9


def spread() -> bool:
    """Two cells that the GPU limits."""
    for network in ("resnet50/imagenet", "vgg16/imagenet"):
        for precision in ("float32", "bfloat16"):
            cell = ("--network", network, "--framework", FRAMEWORK, "--precision", precision, "--gpus", "1")
            runs = ("--execution", "eager", "--batch", "256", "--runs", "3", "--seconds", "4")
            netdyno("run", *cell, *runs, *options())
    found = [result for result in results() if (result.cell.batch, result.cell.execution) == (256, "eager")]
    return len(found) == 4 and tell_spread(found) <= LARGEST_SPREAD


def tell_spread(results: Sequence[Result]) -> float:
    """Print how much runs differ; the most of it where the GPU is what limits."""
    print(f"\n{'spread from run to run':<42}{'CV':>9}  runs")
    largest = 0.0
    for result in results:
        speeds = [rate(record.samples, result.cell.batch) for record in result.measured]
        spread = statistics.stdev(speeds) / statistics.fmean(speeds) if len(speeds) > 1 else float("nan")
        waits = "host-bound" in result.verdict
        largest = max(largest, 0.0 if waits else spread)  # one run alone has none
        name = f"{result.cell.network}/{result.cell.dataset} b{result.cell.batch} {result.cell.precision}"
        print(f"{name:<42}{spread:>9.4%}  {len(speeds)}{'  host-bound' if waits else ''}")
    return largest


def bare_float32() -> bool:
    return against_bare("float32", "eager")


def bare_bfloat16() -> bool:
    return against_bare("bfloat16", "fastest")


def against_bare(precision: str, execution: str) -> bool:
    """The nine cases against hand-written loops, in the execution that was chosen when they were measured."""
    cases = []
    for result in results():
        cell = result.cell
        if (cell.precision, cell.execution) == (precision, execution) and result.measured:
            chosen = result.measured[-1].settings.get("execution", cell.execution)
            cases.append(f"{cell.framework}:{cell.network}/{cell.dataset}:{cell.batch}:{precision}:{chosen}")
    return bool(cases) and holds(cases)


def bare_families() -> bool:
    """Networks of other kinds, each in its framework's best execution."""
    return holds([f"{framework}:{network}:bfloat16:{execution}" for framework, network, execution in families_ways()])


def families() -> bool:
    """The same as anybody measures them, for what a bare loop does not say."""
    for framework, network, execution in families_ways():
        name, _, batch = network.partition(":")
        cell = ("--network", name, "--batch", batch, "--framework", framework, "--execution", execution)
        netdyno("run", *cell, "--precision", "bfloat16", "--gpus", "1", "--seconds", "3", *options())
    return True


def families_ways() -> list[tuple[str, str, str]]:
    """Framework, network with its batch, execution."""
    ours = [(FRAMEWORK, network, "compiled-cudagraph") for network in FAMILIES]
    return [*ours, *(("jax", network, "compiled") for network in FAMILIES[:2])]


def holds(cases: Sequence[str]) -> bool:
    """Is netdyno as fast as the bare loops? All are on the GPU together: JAX must not take most of its memory."""
    command = [sys.executable, str(HERE / "against_bare.py"), "--device", "cuda", "--pairs", "8", "--processes", "2"]
    variables = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return subprocess.run([*command, *cases], env=variables, check=False).returncode == 0


def resnet50() -> bool:
    """The best speed at any batch, and where its time goes."""
    cell = ("--network", "resnet50/imagenet", "--framework", FRAMEWORK, "--precision", "bfloat16", "--gpus", "1")
    for batch in BATCHES:
        runs = ("--execution", "compiled", "--batch", str(batch), "--runs", "1", "--seconds", "5", "--split")
        netdyno("run", *cell, *runs, *options())
    best = max((r for r in results() if r.cell.network == "resnet50"), key=speed)
    print(f"best: {speed(best):,.0f} images/s at batch {best.cell.batch}", flush=True)
    for name in ("forward_s", "backward_s", "update_s"):
        print(f"  {name} {best.readings.get(name, float('nan')):.4f}")
    return speed(best) >= 7105


def speed(result: Result) -> float:
    """Images per second; 0 where nothing was measured."""
    return result.head.value if result.head else 0.0


def monitor() -> bool:
    """A busy GPU with and without a monitor, in turns; then ten seconds of readings."""
    gpus = visible_gpus()[:1]
    with tempfile.TemporaryDirectory() as name:
        side = busy_side(Path(name))
        side.block(20)  # algorithms are chosen in the first steps
        steps = max(1, round(BLOCK_S / (side.block(20).seconds / 20)))
        ratios = []
        for number in range(PAIRS):
            seconds = {}
            for watched in (number % 2 == 0, number % 2 == 1):
                with monitoring(Path(name) / "trace.csv", gpus if watched else ()):
                    seconds[watched] = side.block(steps).seconds
            ratios.append(seconds[True] / seconds[False])
        cost = statistics.median(ratios) - 1
        print(f"monitor on ÷ off: {cost:+.4%} ({PAIRS} pairs, {min(ratios) - 1:+.4%} to {max(ratios) - 1:+.4%})")
        with monitoring(Path(name) / "trace.csv", gpus):
            start = time.monotonic()
            side.block(round(10 * steps / BLOCK_S))
            end = time.monotonic()
        side.stop()
        tell_energy(Path(name) / "trace.csv", start + 0.5, end - 0.2)
    return cost <= LARGEST_COST


def busy_side(folder: Path) -> Side:
    bench = Bench(threads=4, folder=Path.cwd(), framework=FRAMEWORK)
    wish = {"framework": FRAMEWORK, "network": "vgg16/imagenet", "batch": 64, "precision": "bfloat16"}
    ours, _, variables = commands(bench.complete({**wish, "device": "cuda"}), folder, {})
    side = Side.start(ours, variables)
    side.wait_until_ready()
    return side


def tell_energy(path: Path, start: float, end: float) -> None:
    trace = read_trace(path)
    (gpu,) = trace.gpus
    counter = joules_by_counter(during(trace.series(f"{gpu}.energy_j"), start, end), end - start)
    watts = during(trace.series(f"{gpu}.power_instant_w"), start, end)
    power = joules_by_power(watts, start, end)
    ticks = len(watts) / (end - start)
    print(f"{end - start:.1f} s: counter {counter:.1f} J, integral {power:.1f} J ({power / counter - 1:+.2%})")
    print(f"refresh {trace.refresh_s}, {ticks:.1f} readings a second, missing: {dict(trace.missing)}", flush=True)


def largest() -> bool:
    """The largest batch of two networks; the search has seen that one more does not fit."""
    for network in ("resnet50/imagenet", "vgg16/imagenet"):
        cell = ("--network", network, "--framework", FRAMEWORK, "--precision", "bfloat16", "--gpus", "1")
        netdyno("run", *cell, "--batch", "max", "--runs", "1", "--seconds", "3", *options())
    return True


def netdyno(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "netdyno", *arguments], check=False)


def options() -> list[str]:
    """NETDYNO_GPU_OPTIONS: more flags of `netdyno run`, such as '--runs 1' for a quick look."""
    return os.environ.get("NETDYNO_GPU_OPTIONS", "").split()


def results() -> list[Result]:
    with open_store(os.environ.get("NETDYNO_STORE") or str(home() / "results.sqlite")) as store:
        return [result for result in results_of(store.records()) if result.cell.device == "cuda"]


PARTS: dict[str, Callable[[], bool]] = {
    "float32": float32,
    "bfloat16": bfloat16,
    "spread": spread,
    "bare-float32": bare_float32,
    "bare-bfloat16": bare_bfloat16,
    "bare-families": bare_families,
    "families": families,
    "resnet50": resnet50,
    "monitor": monitor,
    "largest": largest,
}


if __name__ == "__main__":
    unknown = [part for part in sys.argv[1:] if part not in PARTS]
    if unknown or not sys.argv[1:]:
        sys.exit(f"expected parts among {', '.join(PARTS)}, received {sys.argv[1:]}")
    main(sys.argv[1:])
