"""Is `threads` obeyed? CPU seconds per second of the timed part, at one and at two threads."""

import time

import psutil
import pytest

from netdyno.harness.complete import Bench
from netdyno.harness.events import read_story
from netdyno.harness.folder import write_json
from netdyno.harness.launch import Command, launch
from netdyno.harness.request import WorkerSide, measure_request
from netdyno.harness.settings import Settings
from tests.parity.conftest import candidate_for, proved_specs

NETWORK = "alexnet/cifar10"  # its convolutions are worth sharing between two threads
BATCH = 32  # a step of the slowest takes a tenth of a second then
POLL_S = 0.05


@pytest.mark.parametrize("spec", proved_specs(), ids=lambda spec: spec.name)
def test_a_framework_computes_with_as_many_threads_as_it_is_told(prover, spec, tmp_path):
    one, two = (_cpus_used(prover, spec, threads, tmp_path) for threads in (1, 2))
    assert 0.5 < one < 1.1
    assert one + 0.1 < two < 2.1


def _cpus_used(prover, spec, threads, tmp_path):
    """CPU seconds per second between the worker's warm-up and its end."""
    candidate = candidate_for(spec, spec.executions[0])
    folder = tmp_path / str(threads)
    folder.mkdir()
    bench = Bench(threads=threads, folder=folder, framework=spec.name)
    cell = bench.complete({"network": NETWORK, "framework": spec.name, "batch": BATCH})
    side = WorkerSide.of(spec, candidate.interpreter, prover.worker)
    settings = Settings(seconds=2.0, target=1e-9).for_worker("cpu")
    write_json(folder / "request.json", measure_request(cell, bench.programme(cell), side, settings))
    command = Command(
        python=candidate.interpreter.path,
        worker=prover.worker,
        folder=folder,
        threads=threads,
        variables=spec.variables,
    )
    readings = _readings(launch(command), folder / "events.jsonl")
    assert read_story(folder / "events.jsonl").last["event"] == "done", (folder / "stderr.log").read_text()[-2000:]
    (start, start_cpu), (end, end_cpu) = readings[0], readings[-1]
    return (end_cpu - start_cpu) / (end - start)


def _readings(running, events):
    """(time, CPU seconds) of the process from the first timed block on."""
    process, readings = psutil.Process(running.process.pid), []
    while running.process.poll() is None:
        if readings or (events.exists() and '"warmup"' in events.read_text()):
            with process.oneshot():
                times = process.cpu_times() if process.status() != psutil.STATUS_ZOMBIE else None
            if times and '"loss", "losses"' not in events.read_text().rpartition('"sample"')[2]:
                readings.append((time.monotonic(), times.user + times.system))
        time.sleep(POLL_S)
    running.finish_output()
    return readings
