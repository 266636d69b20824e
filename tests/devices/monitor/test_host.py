"""What the host does meanwhile, on this machine and on fake trees."""

import os
import subprocess
from pathlib import Path

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


def test_several_workers_are_added_up() -> None:
    host = open_host()
    workers = [subprocess.Popen(["sleep", "30"]) for _ in range(2)]
    try:
        host.watch([workers[0].pid])
        one = host.read(0.0)["worker_rss_bytes"]
        host.watch([workers[1].pid])
        assert host.read(0.2)["worker_rss_bytes"] >= 1.5 * one
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


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
