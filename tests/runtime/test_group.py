"""Groups of 1, 2 and 4 ranks: whatever one of them does, the group ends in bounded time with that rank named."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from netdyno.bench.cells import Bench
from netdyno.bench.settings import Settings
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.spec import read_spec
from netdyno.protocol.events import Done
from netdyno.runtime.group import Place, places
from netdyno.runtime.task import Task
from netdyno.runtime.worker import Worker
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.train import judge_measurement, timing_request, train_figures
from netdyno.workloads.workload import Job, RunFacts

SCRIPTED = Path(__file__).parents[1] / "scripted" / "scripted.toml"
DEADLINE_S = 40.0
SOON_S = 30.0  # on a busy machine; a hang lasts an hour


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return pack_worker(tmp_path_factory.mktemp("workers"))


@pytest.fixture
def group(tmp_path, monkeypatch, archive):
    """Runs a group of ranks, each of which does what a script says."""
    monkeypatch.delenv("NETDYNO_SPECS", raising=False)
    worker = Worker.of(read_spec(SCRIPTED), Interpreter(path=Path(sys.executable), origin="current"), archive)
    bench = Bench(threads=1, folder=tmp_path, framework="reference")
    cell = bench.complete({"network": "lenet/mnist", "batch": 2})

    def run(ranks, script=None, deadline_s=DEADLINE_S, on_poll=lambda: None):
        monkeypatch.setenv("NETDYNO_RANKS", json.dumps(script or {}))
        timing = Settings(seconds=0.1).timing("cpu")
        job = Job(cell=cell, number=1, programme=bench.programme(cell), worker=worker, timing=timing)
        request = msgspec.structs.replace(timing_request("train", job), ranks=ranks)
        folder = tmp_path / "runs" / "one"
        return Task(worker=worker, request=request, folder=folder, deadline_s=deadline_s).run(on_poll)

    yield run
    assert _workers(archive) == []


def _workers(archive):
    named = psutil.process_iter(["cmdline"])
    return [process for process in named if str(archive) in (process.info["cmdline"] or [])]


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_every_rank_has_its_request_events_and_logs_and_all_are_done(group, ranks):
    finished = group(ranks)
    assert finished.verdict.outcome == "done", finished.verdict
    assert [isinstance(log.last, Done) for log in finished.logs] == [True] * ranks
    assert finished.ending.exit_codes == (0,) * ranks
    requests = [json.loads((finished.folder / f"rank{r}" / "request.json").read_text()) for r in range(ranks)]
    assert [(request["rank"], request["ranks"]) for request in requests] == [(r, ranks) for r in range(ranks)]
    assert all((finished.folder / f"rank{r}" / "stderr.log").exists() for r in range(ranks))
    facts = RunFacts(
        cell=Bench(threads=1, folder=Path(), framework="null").complete({"network": "lenet"}),
        series=1, number=1, machine="m", target=0.1, graph_digest="", worker_hash="",
    )  # fmt: skip
    assert judge_measurement(finished, 0.1).outcome == "measured"
    assert train_figures(facts, finished.logs, {})["throughput"].per_step == 64 * ranks


@pytest.mark.parametrize(
    ("behaviour", "outcome", "reason"),
    [
        ("crash", "crashed", "ended by SIGSEGV"),
        ("exit", "crashed", "exit code 3 without a last word: the library said goodbye"),
        ("killed", "crashed", "ended by SIGKILL"),
        ("raise", "failed", "ValueError: expected a good day"),
        ("cannot", "unsupported", "not on a Sunday"),
        ("out of memory", "out of memory", "MemoryError: wanted 12 GiB"),
        ("garbage", "failed", "the worker broke its protocol: line 2 of its events is not an event"),
        ("fail and stay", "failed", "gave up but stays"),
    ],
)
@pytest.mark.parametrize(("ranks", "culprit"), [(1, 0), (2, 1), (4, 2)])
def test_a_rank_that_goes_wrong_ends_its_group_and_is_named(group, ranks, culprit, behaviour, outcome, reason):
    others = {} if behaviour == "garbage" else {str(rank): "hang stubbornly" for rank in range(ranks)}
    start = time.monotonic()
    finished = group(ranks, {**others, str(culprit): behaviour})
    assert time.monotonic() - start < SOON_S
    name = f"rank {culprit}: " if ranks > 1 else ""
    assert (finished.verdict.outcome, finished.verdict.reason) == (outcome, name + reason)
    assert finished.ending.timed_out is False


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_rank_that_hangs_ends_its_group_at_the_deadline(group, ranks):
    start = time.monotonic()
    finished = group(ranks, {str(ranks - 1): "hang stubbornly"}, deadline_s=3.0)
    assert time.monotonic() - start < SOON_S
    assert finished.verdict.outcome == "timed out"
    assert "no last word before the deadline" in finished.verdict.reason
    assert str(ranks - 1) in finished.verdict.reason or ranks == 1


def test_a_rank_that_floods_its_events_ends_its_group_long_before_the_disk_is_full(group):
    finished = group(2, {"0": "hang", "1": "flood events"}, deadline_s=60.0)
    assert finished.verdict.outcome == "failed"
    assert finished.verdict.reason == "rank 1: the worker broke its protocol: it wrote over 64 MiB of events"
    assert finished.ending.failed == 1


def test_a_rank_that_crashes_after_it_was_done_ends_nobody_else(group):
    finished = group(2, {"0": "done then crash"})
    assert finished.verdict.outcome == "done", finished.verdict
    assert finished.ending.exit_codes == (-11, 0)


def test_ctrl_c_ends_every_rank(group, archive):
    def interrupt():
        if len(_workers(archive)) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        group(4, dict.fromkeys("0123", "hang"), on_poll=interrupt)
    assert _workers(archive) == []


def test_a_rank_that_is_killed_from_outside_ends_its_group(group, archive):
    killed = []

    def kill():
        found = _workers(archive)
        if len(found) == 2 and not killed:
            killed.append(found[0].pid)
            found[0].kill()

    finished = group(2, {"0": "hang", "1": "hang"}, on_poll=kill)
    assert finished.verdict.outcome == "crashed"
    assert "ended by SIGKILL" in finished.verdict.reason


@pytest.mark.parametrize(
    ("ranks", "threads", "usable", "expected"),
    [
        (1, 8, 8, [()]),
        (1, 2, 8, [(6, 7)]),
        (2, 2, 8, [(6, 7), (4, 5)]),
        (4, 2, 8, [(6, 7), (4, 5), (2, 3), (0, 1)]),
        (4, 4, 8, [(6, 7), (4, 5), (2, 3), (0, 1)]),
        (2, 1, 2, [(1,), (0,)]),
        (4, 1, 2, [(1,), (0,), (1,), (0,)]),
    ],
)
def test_ranks_compute_on_cpus_of_their_own_where_there_are_enough(ranks, threads, usable, expected):
    assert [place.cpus for place in places(ranks, threads, usable=range(usable))] == expected


def test_a_worker_whose_host_died_while_it_started_ends_without_a_word(tmp_path, archive):
    for name in ("request.json", "events.jsonl"):
        (tmp_path / name).write_text("")
    command = [sys.executable, "-I", str(archive), str(tmp_path / "request.json"), str(tmp_path / "events.jsonl")]
    done = subprocess.run(command, env={**os.environ, "NETDYNO_HOST_PID": "1"}, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, b"")
    assert (tmp_path / "events.jsonl").read_text() == ""


def test_gpus_are_shared_out_in_turn():
    found = places(2, 1, gpus=(4, 5, 6), usable=range(2))
    assert found == [Place(cpus=(1,), gpus=(4, 6)), Place(cpus=(0,), gpus=(5,))]


def test_a_rank_keeps_to_its_cpus(group, archive):
    seen = []

    def look():
        seen.extend(process.cpu_affinity() for process in _workers(archive))

    group(1, {"0": "hang"}, deadline_s=4.0, on_poll=look)
    assert seen
    assert seen[-1] == [max(os.sched_getaffinity(0))] or len(os.sched_getaffinity(0)) == 1
