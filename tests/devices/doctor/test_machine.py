"""What disturbs a measurement, on fake machines."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from tests.devices.trees import SERVER, write_tree

from netdyno.devices.doctor import machine as module
from netdyno.devices.doctor.finding import Finding, State
from netdyno.devices.doctor.machine import machine_findings, steal_share
from netdyno.devices.machine import Machine, describe_machine
from netdyno.devices.nvidia.gpus import Gpu, Gpus


@pytest.fixture
def server(tmp_path: Path) -> Machine:
    return describe_machine(write_tree(tmp_path, SERVER), gpus=Gpus())


def _by_name(machine: Machine, load: float | None, root: Path) -> dict[str, Finding]:
    return {finding.what: finding for finding in machine_findings(machine, load, home=root, root=root)}


def _state(machine: Machine, root: Path, what: str, load: float | None = 0.0) -> str:
    return _by_name(machine, load, root)[what].state


def test_a_quiet_server_is_good_but_for_smt(server: Machine, tmp_path: Path) -> None:
    found = _by_name(server, 0.1, tmp_path)
    found.pop("disk")
    assert {what for what, finding in found.items() if finding.state != "good"} == {"SMT"}


def test_whatever_is_not_good_says_what_to_do(server: Machine, tmp_path: Path) -> None:
    poor = replace(server, governor="powersave", turbo=True, hypervisor="X", usable_cores=1.0)
    for machine in (poor, replace(server, smt=None, governor="", turbo=None, gpu_problem="mismatch")):
        for finding in machine_findings(machine, 9.0, home=tmp_path, root=tmp_path):
            assert finding.state in get_args(State)
            assert finding.state == "good" or finding.hint


@pytest.mark.parametrize(("load", "state"), [(0.8, "good"), (3.0, "weak"), (4.1, "bad"), (None, "unknown")])
def test_load_is_judged_per_usable_core(server: Machine, tmp_path: Path, load: float | None, state: str) -> None:
    assert _state(server, tmp_path, "load", load) == state


@pytest.mark.parametrize(("cores", "state"), [(8.0, "good"), (2.0, "weak"), (1.0, "bad"), (6.5, "bad")])
def test_few_or_fractional_cores_disturb(server: Machine, tmp_path: Path, cores: float, state: str) -> None:
    assert _state(replace(server, usable_cores=cores), tmp_path, "cores") == state


def test_little_memory_and_used_swap_disturb(server: Machine, tmp_path: Path) -> None:
    write_tree(tmp_path, {"proc/meminfo": "MemAvailable: 1048576 kB\nSwapTotal: 1048576 kB\nSwapFree: 524288 kB\n"})
    found = _by_name(server, 0.0, tmp_path)
    assert (found["memory"].state, found["swap"].state) == ("bad", "weak")


def test_a_memory_limit_counts_as_what_is_available(server: Machine, tmp_path: Path) -> None:
    assert _state(replace(server, memory_limit_bytes=3 * 2**30), tmp_path, "memory") == "weak"


def test_variables_that_frameworks_heed_disturb_unless_they_choose_a_gpu(server: Machine, tmp_path: Path) -> None:
    chosen = {"CUDA_VISIBLE_DEVICES": "1"}
    for variables, state in ((chosen, "good"), (chosen | {"OMP_WAIT_POLICY": "PASSIVE"}, "weak")):
        found = machine_findings(server, 0.1, home=tmp_path, variables=variables, root=tmp_path)
        (finding,) = (finding for finding in found if finding.what == "variables")
        assert finding.state == state
    assert finding.seen == "OMP_WAIT_POLICY=PASSIVE"


def test_steal_is_the_share_between_two_readings(tmp_path: Path) -> None:
    write_tree(tmp_path, SERVER)

    def sleep(_: float) -> None:
        write_tree(tmp_path, {"proc/stat": "cpu  150 0 100 840 0 0 0 10 0 0\n"})

    assert steal_share(tmp_path, sleep=sleep) == pytest.approx(0.10)


def test_steal_is_unknown_where_the_clock_stands_or_nothing_is_told(tmp_path: Path) -> None:
    assert steal_share(tmp_path, window_s=0) is None
    assert steal_share(write_tree(tmp_path, SERVER), window_s=0) is None


@pytest.mark.parametrize(("steal", "state"), [(0.0, "weak"), (0.05, "bad"), (None, "weak")])
def test_a_guest_is_judged_by_stolen_time(
    server: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steal: float | None, state: str
) -> None:
    monkeypatch.setattr(module, "steal_share", lambda root: steal)
    assert _state(replace(server, hypervisor="X"), tmp_path, "virtualisation") == state


def test_a_container_alone_does_not_disturb(server: Machine, tmp_path: Path) -> None:
    assert _state(replace(server, container="docker"), tmp_path, "virtualisation") == "good"


@pytest.mark.parametrize(("others", "state"), [(0, "good"), (2, "bad"), (None, "unknown")])
def test_other_processes_on_a_gpu_disturb(
    server: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int | None, state: str
) -> None:
    monkeypatch.setattr(module, "count_other_processes", lambda: others)
    machine = replace(server, gpus=(Gpu(name="G", memory_bytes=1, driver="1"),))
    assert _state(machine, tmp_path, "GPU processes") == state


def test_an_empty_tree_gives_unknowns_with_reasons_and_no_crash(tmp_path: Path) -> None:
    machine = describe_machine(tmp_path, gpus=Gpus())
    found = {f.what: f for f in machine_findings(machine, machine.load, root=tmp_path)}
    for what in ("load", "SMT", "governor", "turbo", "memory", "swap"):
        assert found[what].state == "unknown"
        assert found[what].hint


def test_the_disk_of_a_home_that_is_not_made_yet_is_looked_at(server: Machine, tmp_path: Path) -> None:
    finding = _by_name(server, 0.0, tmp_path / "not" / "yet")["disk"]
    assert "GiB free" in finding.seen
