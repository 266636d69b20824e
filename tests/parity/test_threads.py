"""Is `threads` obeyed? CPU seconds per second of the timed part, at one and at two threads."""

import time

import psutil
import pytest

from netdyno.bench.cells import Bench
from netdyno.bench.settings import Settings
from netdyno.runtime.task import Task
from netdyno.runtime.worker import Worker
from netdyno.workloads.train import timing_request
from netdyno.workloads.workload import Job
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
    worker = Worker.of(spec, candidate.interpreter, prover.archive)
    timing = Settings(seconds=2.0, target=1e-9).timing("cpu")
    job = Job(cell=cell, number=1, programme=bench.programme(cell), worker=worker, timing=timing)
    task = Task(worker=worker, request=timing_request("train", job), folder=folder, deadline_s=600.0)
    task.prepare()
    group = task.start()
    readings = _readings(group.ranks[0])
    verdict = task.watch(group).verdict
    assert verdict.outcome == "done", verdict
    (start, start_cpu), (end, end_cpu) = readings[0], readings[-1]
    return (end_cpu - start_cpu) / (end - start)


def _readings(running):
    """(time, CPU seconds) of the process from the first timed block on."""
    process, readings, events = psutil.Process(running.process.pid), [], running.folder / "events.jsonl"
    while running.process.poll() is None:
        if readings or (events.exists() and '"warmup"' in events.read_text()):
            with process.oneshot():
                times = process.cpu_times() if process.status() != psutil.STATUS_ZOMBIE else None
            if times and '"loss", "losses"' not in events.read_text().rpartition('"sample"')[2]:
                readings.append((time.monotonic(), times.user + times.system))
        time.sleep(POLL_S)
    return readings
