"""What a machine is, read from fake trees and from this one."""

import json
import platform
from dataclasses import replace
from pathlib import Path

import pytest
from tests.devices.trees import SERVER, write_tree

from netdyno.devices.machine import Machine, describe_machine, machine_id
from netdyno.devices.nvidia.gpus import Gpu, Gpus

GPU = Gpu(name="Example GPU", memory_bytes=80 * 2**30, driver="1.2")


def _describe(root: Path, **changes: str) -> Machine:
    return describe_machine(write_tree(root, SERVER | changes), gpus=Gpus())


def test_a_server_is_described(tmp_path: Path) -> None:
    machine = _describe(tmp_path)
    assert machine.cpu == "Example CPU @ 2.0GHz"
    assert (machine.physical_cores, machine.logical_cores, machine.usable_cores) == (4, 8, 8.0)
    assert machine.memory_bytes == 64 * 2**30
    assert (machine.smt, machine.governor, machine.turbo) == (True, "performance", False)
    assert (machine.hypervisor, machine.container) == ("", "")
    assert (machine.load, machine.system, machine.kernel) == (0.1, "Example OS 12", "6.1.0-example")


def test_affinity_lowers_the_usable_cores(tmp_path: Path) -> None:
    machine = _describe(tmp_path, **{"proc/self/status": "Cpus_allowed_list:\t0-1,6\n"})
    assert machine.usable_cores == 3


@pytest.mark.parametrize(
    "files",
    [
        {"sys/fs/cgroup/user.slice/cpu.max": "150000 100000", "sys/fs/cgroup/user.slice/memory.max": "1073741824"},
        {
            "proc/self/cgroup": "4:memory:/job\n1:cpu,cpuacct:/job\n",
            "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "150000",
            "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "1073741824",
        },
    ],
    ids=["version 2", "version 1"],
)
def test_a_group_above_this_process_limits_it(tmp_path: Path, files: dict[str, str]) -> None:
    machine = _describe(tmp_path, **files)
    assert machine.usable_cores == 1.5
    assert machine.memory_limit_bytes == 2**30


def test_groups_without_limit_limit_nothing(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/cpu.max": "max 100000",
        "sys/fs/cgroup/memory.max": "max",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    }
    machine = _describe(tmp_path, **files)
    assert machine.usable_cores == 8
    assert machine.memory_limit_bytes is None


def test_topology_counts_cores_where_cpuinfo_does_not(tmp_path: Path) -> None:
    files = {"proc/cpuinfo": "processor\t: 0\nModel\t: Example Board\n"}
    for n in range(8):
        files[f"sys/devices/system/cpu/cpu{n}/topology/core_id"] = str(n // 2)
        files[f"sys/devices/system/cpu/cpu{n}/topology/physical_package_id"] = "0"
    machine = _describe(tmp_path, **files)
    assert (machine.cpu, machine.physical_cores) == ("Example Board", 4)


def test_guests_are_recognised(tmp_path: Path) -> None:
    files = {
        "proc/cpuinfo": "processor : 0\nflags : fpu hypervisor\n",
        "sys/class/dmi/id/sys_vendor": "QEMU\n",
        ".dockerenv": "",
    }
    machine = _describe(tmp_path, **files)
    assert (machine.hypervisor, machine.container) == ("KVM/QEMU", "docker")


def test_an_empty_tree_is_described_without_a_crash(tmp_path: Path) -> None:
    machine = describe_machine(tmp_path, gpus=Gpus())
    assert machine.physical_cores is None
    assert machine.memory_bytes is None
    assert machine.load is None
    assert machine.logical_cores >= 1
    assert len(machine_id(machine)) == 12


def test_a_tree_of_nonsense_is_described_without_a_crash(tmp_path: Path) -> None:
    machine = describe_machine(write_tree(tmp_path, dict.fromkeys(SERVER, "\x00?: -")), gpus=Gpus())
    assert machine.logical_cores >= 1


def test_the_id_follows_the_hardware_and_not_the_moment(tmp_path: Path) -> None:
    machine = _describe(tmp_path)
    assert len(machine_id(machine)) == 12
    calm = replace(machine, load=7.0, governor="powersave", turbo=True, usable_cores=2.0, kernel="7")
    assert machine_id(calm) == machine_id(machine)
    others = [
        replace(machine, gpus=(GPU,)),
        replace(machine, gpus=(GPU, GPU)),
        replace(machine, cpu="Other"),
        replace(machine, memory_bytes=32 * 2**30),
        replace(machine, host_hash="0" * 12),
    ]
    assert len({machine_id(machine), *map(machine_id, others)}) == 6


def test_this_machine_is_described_as_plain_data_without_its_name() -> None:
    described = describe_machine().as_json()
    text = json.dumps(described)
    assert json.loads(text) == described
    assert platform.node() not in described.values()
    assert 0 < described["usable_cores"] <= described["logical_cores"]
