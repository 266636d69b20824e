"""What the host does meanwhile, on this machine and on fake trees."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.devices.trees import write_tree

from netdyno.devices.monitor.host import READINGS, open_host
from netdyno.devices.monitor.rapl import find_rapl

ZONE = "sys/class/powercap/intel-rapl:"


def _package(number: int, energy_uj: int, name: str = "package") -> dict[str, str]:
    zone = f"{ZONE}{number}"
    return {
        f"{zone}/name": f"{name}-{number}\n",
        f"{zone}/energy_uj": f"{energy_uj}\n",
        f"{zone}/max_energy_range_uj": "10000000\n",
    }


def test_the_worker_is_read_once_it_was_told() -> None:
    host = open_host()
    assert set(host.read(0.0)) <= {"busy_cpu_s", "load", "rapl_j"}
    host.watch([os.getpid()])
    read = host.read(0.2)
    assert read["worker_rss_bytes"] > 10 * 2**20
    assert 0 < read["worker_cpu_s"] <= read["busy_cpu_s"] + 0.1


def test_a_worker_that_has_ended_has_no_readings_and_is_no_problem() -> None:
    host = open_host()
    worker = subprocess.Popen(["sleep", "30"])
    host.watch([worker.pid])
    assert "worker_rss_bytes" in host.read(0.0)
    worker.kill()
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)  # ended, but not yet waited for
    assert "worker_rss_bytes" not in host.read(0.2)
    worker.wait()
    assert "worker_rss_bytes" not in host.read(0.4)
    host.watch([worker.pid])
    assert "worker_rss_bytes" not in host.missing


PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}


def test_several_workers_are_added_up() -> None:
    host = open_host()
    workers = [subprocess.Popen([sys.executable, "-c", "print(1, flush=True); input()"], **PIPES) for _ in range(2)]
    try:
        for worker in workers:
            worker.stdout.readline()  # just started, a process has no memory yet
        host.watch([workers[0].pid])
        one = host.read(0.0)["worker_rss_bytes"]
        host.watch([workers[1].pid])
        assert host.read(0.2)["worker_rss_bytes"] >= 1.5 * one
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


RANK = """
import subprocess, sys, time
own_s, child_s = float(sys.argv[1]), float(sys.argv[2])
while time.process_time() < own_s:
    pass
if child_s:
    child = subprocess.Popen([sys.executable, "-c", sys.argv[3], str(child_s), "0", ""], stdout=subprocess.PIPE)
    child.stdout.readline()
print("done", flush=True)
time.sleep(60)
"""


def _start(own_s: float, child_s: float = 0.0) -> "subprocess.Popen[str]":
    """A rank that has used so much CPU time, and so has the child that it started; both are still there."""
    command = [sys.executable, "-c", RANK, str(own_s), str(child_s), RANK]
    rank = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert rank.stdout is not None
    assert rank.stdout.readline() == "done\n"
    return rank


def _end(rank: "subprocess.Popen[str]") -> None:
    if rank.returncode is None:
        os.killpg(rank.pid, signal.SIGKILL)
        rank.communicate()


@pytest.mark.parametrize("ranks", [2, 4])
def test_cpu_seconds_are_those_of_all_ranks_and_of_what_they_start(ranks: int) -> None:
    host = open_host()
    started = [_start(0.2, child_s=0.3 if rank == 0 else 0.0) for rank in range(ranks)]
    try:
        host.watch([rank.pid for rank in started])
        read = host.read(0.0)
        alone = [psutil.Process(rank.pid).cpu_times() for rank in started]
        own = sum(times.user + times.system for times in alone)
        assert own >= 0.19 * ranks  # in ticks of 10 ms
        assert read["worker_cpu_s"] == pytest.approx(own + 0.3, abs=0.15)
        rss = [psutil.Process(rank.pid).memory_info().rss for rank in started]
        assert read["worker_rss_bytes"] == pytest.approx(sum(rss), rel=0.2)
    finally:
        for rank in started:
            _end(rank)


def test_the_cpu_seconds_of_a_rank_that_has_ended_stay_in_the_sum() -> None:
    host = open_host()
    first, second = _start(0.3), _start(0.1)
    try:
        host.watch([first.pid, second.pid])
        both = host.read(0.0)
        _end(first)
        one = host.read(0.2)
        assert one["worker_cpu_s"] >= both["worker_cpu_s"]
        assert one["worker_rss_bytes"] < 0.7 * both["worker_rss_bytes"]
        _end(second)
        assert "worker_cpu_s" not in host.read(0.4)
    finally:
        _end(first)
        _end(second)


def test_joules_of_packages_are_added_and_a_counter_may_start_again(tmp_path: Path) -> None:
    write_tree(tmp_path, {**_package(0, 9_000_000), **_package(1, 1_000_000)})
    host = open_host(tmp_path)
    assert host.read(0.0)["rapl_j"] == 0
    write_tree(tmp_path, {**_package(0, 1_000_000), **_package(1, 1_500_000)})
    assert host.read(0.2)["rapl_j"] == pytest.approx(2.5)
    write_tree(tmp_path, {**_package(0, 2_000_000), **_package(1, 1_500_000)})
    assert host.read(0.4)["rapl_j"] == pytest.approx(3.5)


def test_only_whole_packages_count(tmp_path: Path) -> None:
    core = {name.replace(":0", ":0:0"): text for name, text in _package(0, 5).items()}
    write_tree(tmp_path, {**_package(0, 0), **core, **_package(1, 7, "psys")})
    assert [package.folder.name for package in find_rapl(tmp_path).packages] == ["intel-rapl:0"]


def test_joules_that_cannot_be_read_are_missing_with_the_reason(tmp_path: Path) -> None:
    none = open_host(tmp_path)
    assert "no RAPL" in none.missing["rapl_j"]
    assert "rapl_j" not in none.readings
    write_tree(tmp_path, _package(0, 5))
    (tmp_path / f"{ZONE}0" / "energy_uj").unlink()
    hidden = open_host(tmp_path)
    assert "root" in hidden.missing["rapl_j"]
    assert set(hidden.readings) == set(READINGS) - {"rapl_j"}
