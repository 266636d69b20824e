"""The monitor as the process that it is, with a fake pynvml where it looks for the real one."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.devices.fake_nvml import write_module

from netdyno.devices.monitor import client as module
from netdyno.devices.monitor.client import Monitor, monitoring
from netdyno.devices.monitor.trace import read_trace


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "monitor.csv"


def _fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
    monkeypatch.setenv("PYTHONPATH", str(write_module(tmp_path / "fake", **settings)))


def _wait_until(true: Any) -> None:
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    assert true()


def test_a_gpu_and_the_worker_are_read_until_the_host_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: Path, worker: subprocess.Popen[bytes]
) -> None:
    _fake(tmp_path, monkeypatch, processes=[[worker.pid, 2**30]], count=4)
    with monitoring(trace, [3]) as monitor:
        launched = time.monotonic()
        assert read_trace(trace).series("gpu0.power_instant_w"), "the baseline is there before the worker"
        monitor.watch([worker.pid])
        time.sleep(1.2)
    assert monitor.problem == ""
    read = read_trace(trace)
    assert read.problem == ""
    assert read.facts["gpu0"]["uuid"].startswith("GPU-3")
    assert 0.03 < read.refresh_s["gpu0"] < 0.3  # 0.1 by the clock
    assert all(at >= launched for at, _ in read.series("gpu0.process_bytes"))
    assert {value for _, value in read.series("gpu0.process_bytes")} == {2**30}
    assert read.series("host.worker_rss_bytes")[-1][1] > 0
    power = [at for at, _ in read.series("gpu0.power_instant_w")]
    assert (len(power) - 1) / (power[-1] - power[0]) > 8  # 20 by the clock, less on a busy machine


@pytest.mark.parametrize(("gpus", "ranks"), [(2, 2), (8, 4)])
def test_every_gpu_and_every_rank_of_a_run_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: Path, gpus: int, ranks: int
) -> None:
    workers = [subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(ranks)]
    processes = [[worker.pid, 2**20 * (rank + 1), rank] for rank, worker in enumerate(workers)]
    _fake(tmp_path, monkeypatch, count=8, processes=processes)
    try:
        with monitoring(trace, range(gpus)) as monitor:
            monitor.watch([worker.pid for worker in workers[:1]])
            _wait_until(lambda: read_trace(trace).series("host.worker_rss_bytes"))
            one = read_trace(trace).series("host.worker_rss_bytes")[-1][1]
            monitor.watch([worker.pid for worker in workers[1:]])
            last = f"gpu{ranks - 1}.process_bytes"
            _wait_until(lambda: read_trace(trace).series("host.worker_rss_bytes")[-1][1] > (ranks - 0.5) * one)
            _wait_until(lambda: read_trace(trace).series(last)[-1][1] == 2**20 * ranks)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    read = read_trace(trace)
    assert (monitor.problem, read.problem) == ("", "")
    assert len(read.gpus) == gpus
    assert [read.facts[name]["uuid"] for name in read.gpus] == [f"GPU-{index}abc-4567" for index in range(gpus)]
    powers = [read.series(f"{name}.power_instant_w")[-1][1] for name in read.gpus]
    assert powers == pytest.approx([80 + 10 * index for index in range(gpus)], abs=0.3)
    assert [read.series(f"{name}.own_processes")[-1][1] for name in read.gpus] == [1] * ranks + [0] * (gpus - ranks)


def test_without_a_gpu_the_host_alone_is_read(trace: Path) -> None:
    with monitoring(trace, ()) as monitor:
        _wait_until(lambda: len(read_trace(trace).series("host.busy_cpu_s")) >= 3)
    assert monitor.problem == ""
    assert {name.partition(".")[0] for name in read_trace(trace).names} == {"host"}


@pytest.mark.parametrize(("settings", "reason"), [({"refused": {"nvmlInit": 12}}, "not installed"), ({}, "not know")])
def test_a_gpu_that_cannot_be_opened_is_missing_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: Path, settings: dict[str, Any], reason: str
) -> None:
    _fake(tmp_path, monkeypatch, **settings)
    with monitoring(trace, [7]) as monitor:
        assert monitor.problem == ""
    assert reason in read_trace(trace).missing["gpu0.energy_j"]
    assert read_trace(trace).series("host.busy_cpu_s")


def test_a_gpu_lost_in_the_middle_is_noted_and_the_host_is_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: Path
) -> None:
    _fake(tmp_path, monkeypatch, lost_after_calls=800)
    with monitoring(trace, [0]):
        _wait_until(lambda: "gpu0.sm_mhz" in read_trace(trace).missing)
        lost_at = time.monotonic()
        _wait_until(lambda: read_trace(trace).series("host.busy_cpu_s")[-1][0] > lost_at)
    assert "lost" in read_trace(trace).missing["gpu0.sm_mhz"]


def test_a_killed_monitor_is_a_problem_and_no_error(trace: Path) -> None:
    monitor = Monitor.start(trace, ())
    assert monitor.process is not None
    os.kill(monitor.process.pid, signal.SIGKILL)
    monitor.process.wait()
    monitor.watch([os.getpid()])
    monitor.stop()
    monitor.stop()
    assert monitor.problem == "the monitor ended before the run did (killed by signal 9)"
    assert read_trace(trace).problem == monitor.problem
    assert read_trace(trace).series("host.busy_cpu_s")


def test_the_monitor_ends_when_its_host_is_killed(trace: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from netdyno.devices.monitor.client import Monitor;"
        "m = Monitor.start(Path(sys.argv[1]), ()); print(m.process.pid, flush=True); time.sleep(60)"
    )
    host = subprocess.Popen([sys.executable, "-c", script, str(trace)], stdout=subprocess.PIPE)
    assert host.stdout is not None
    pid = int(host.stdout.readline())
    host.kill()
    host.wait()
    _wait_until(lambda: _is_gone(pid))
    assert read_trace(trace).problem == ""


def test_ctrl_c_is_not_heard_and_a_request_to_end_is(trace: Path) -> None:
    monitor = Monitor.start(trace, ())
    assert monitor.process is not None
    monitor.process.send_signal(signal.SIGINT)
    time.sleep(0.4)
    assert monitor.process.poll() is None
    monitor.process.send_signal(signal.SIGTERM)
    assert monitor.process.wait(5) == 0
    monitor.stop()


def test_a_monitor_that_is_not_ready_in_time_does_not_hold_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: Path
) -> None:
    _fake(tmp_path, monkeypatch, hang_s=30)
    monkeypatch.setattr(module, "READY_S", 0.5)
    monkeypatch.setattr(module, "END_S", 0.5)
    begin = time.monotonic()
    with monitoring(trace, [0]) as monitor:
        monitor.watch([1])
    assert time.monotonic() - begin < 5
    assert "not ready" in monitor.problem
    assert read_trace(trace).problem == monitor.problem


def test_a_trace_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    monitor = Monitor.start(tmp_path / "no" / "such" / "folder.csv", ())
    monitor.stop()
    assert monitor.problem == "the trace cannot be written: No such file or directory"


def test_a_pynvml_that_breaks_is_a_problem_in_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: Path
) -> None:
    (tmp_path / "pynvml.py").write_text("raise RuntimeError('broken on import')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with monitoring(trace, [0]):
        pass
    assert "broken on import" in read_trace(trace).problem


def test_the_monitor_loads_nothing_heavy() -> None:
    script = "import sys, json, netdyno.devices.monitor.__main__; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout))
    assert loaded & {"numpy", "rich", "typer", "sqlalchemy", "pynvml", "statistics", "asyncio"} == set()
    assert "psutil" in loaded


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
