"""Does a framework work here? It is imported in its own process and trains one small network for a step."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, find_interpreter
from netdyno.frameworks.spec import Spec
from netdyno.harness.complete import Bench
from netdyno.harness.events import read_story
from netdyno.harness.folder import write_json
from netdyno.harness.launch import Command, launch
from netdyno.harness.request import WorkerSide, measure_request
from netdyno.harness.settings import Settings
from netdyno.harness.watch import tail, watch
from netdyno.harness.worker_file import pack_worker

NETWORK = "lenet/mnist"
BATCH = 2
LIMIT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a framework said of itself; `problem` is empty if it trains."""

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
    interpreter = find_interpreter(spec, given)
    worker = pack_worker(home / "workers")
    bench = Bench(threads=threads, folder=Path.cwd(), framework=spec.name)
    cell = bench.complete({"framework": spec.name, "network": NETWORK, "batch": BATCH, "device": "cpu"})
    settings = Settings(seconds=0.1).for_worker(cell.device)
    side = WorkerSide.of(spec, interpreter, worker)
    scratch = home / "scratch"
    scratch.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="check-") as name:
        folder = Path(name)
        write_json(folder / "request.json", measure_request(cell, bench.programme(cell), side, settings))
        command = Command(
            python=interpreter.path,
            worker=worker,
            folder=folder,
            threads=threads,
            variables=spec.variables,
            program=spec.program,
        )
        ending = watch(launch(command), LIMIT_S, lambda: None)
        story = read_story(folder / "events.jsonl")
        hello = story.first("hello") or {"versions": {}}
        versions = ", ".join(f"{name} {version}" for name, version in hello["versions"].items())
        if story.last and story.last["event"] == "done":
            return "", versions
        if ending.timed_out:
            return f"did not answer in {LIMIT_S:.0f} s", versions
        said = (story.last or {}).get("reason") or tail(folder / "stderr.log")
        return said or f"ended with exit code {ending.exit_code} and no word", versions
