"""Does a framework work here? It is imported in its own process and trains one small network for a step."""

import time
from dataclasses import dataclass
from pathlib import Path

from netdyno.bench.cells import Bench
from netdyno.bench.settings import Settings
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, find_interpreter
from netdyno.frameworks.spec import Spec
from netdyno.protocol.events import Hello
from netdyno.runtime.judge import DONE
from netdyno.runtime.task import Task, scratch_folder
from netdyno.runtime.worker import Worker
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads import find_workload
from netdyno.workloads.workload import Job

NETWORK = "lenet/mnist"
BATCH = 2
LIMIT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a framework reported about itself; `problem` is empty if it trains."""

    framework: str
    seconds: float
    problem: str = ""
    versions: str = ""


def check(spec: Spec, given: Given, home: Path, threads: int) -> Checked:
    """Import the framework and train a step of the smallest network."""
    start = time.monotonic()
    try:
        problem, versions = _train(spec, given, home, threads)
    except NetdynoError as error:
        problem, versions = str(error), ""
    return Checked(framework=spec.name, seconds=time.monotonic() - start, problem=problem, versions=versions)


def _train(spec: Spec, given: Given, home: Path, threads: int) -> tuple[str, str]:
    worker = Worker.of(spec, find_interpreter(spec, given), pack_worker(home / "workers"))
    bench = Bench(threads=threads, folder=Path.cwd(), framework=spec.name)
    cell = bench.complete({"framework": spec.name, "network": NETWORK, "batch": BATCH, "device": "cpu"})
    timing = Settings(seconds=0.1).timing(cell.device)
    job = Job(cell=cell, number=1, programme=bench.programme(cell), worker=worker, timing=timing)
    with scratch_folder(home / "scratch", "check") as folder:
        request = find_workload("train").request(job)
        finished = Task(worker=worker, request=request, folder=folder, deadline_s=LIMIT_S).run()
    hello, verdict = finished.log.first(Hello), finished.verdict
    versions = ", ".join(f"{name} {version}" for name, version in hello.versions.items()) if hello else ""
    if finished.ending.timed_out:
        return f"did not answer in {LIMIT_S:.0f} s", versions
    return "" if verdict.outcome == DONE else f"{verdict.outcome}: {verdict.reason}", versions
