"""The first lines of the page: processor, cores, memory, GPUs, and the versions of everything."""

import pytest
from tests.report.pages import runs_of
from tests.report.realistic import HOST

from netdyno.report.machines import MOST_MACHINES, Surveyor, described
from netdyno.results.result import results_of


def survey(*records):
    surveyor = Surveyor()
    for result in results_of([record for group in records for record in group]):
        surveyor.add(result)
    return surveyor.surroundings()


def test_a_machine_is_named_with_cores_memory_system_and_gpus():
    machine = described("5bce", HOST)
    assert machine.host == "AMD EPYC 9354, 32 cores (64 threads), 270 GiB memory, Debian GNU/Linux 12 (bookworm)"
    assert machine.gpus == ("NVIDIA H200, 140 GiB, driver 580.159.04",)


def test_equal_gpus_are_counted():
    assert described("5bce", {"gpus": HOST["gpus"] * 4}).gpus == ("4 × NVIDIA H200, 140 GiB, driver 580.159.04",)


@pytest.mark.parametrize(
    ("environment", "host"),
    [
        ({"cpu": "A", "physical_cores": 1, "logical_cores": 1}, "A, 1 core"),
        ({"cpu": "A", "physical_cores": 8, "logical_cores": 16}, "A, 8 cores (16 threads)"),
        ({"cpu": "A", "physical_cores": 8, "usable_cores": 4.5}, "A, 8 cores, 4.5 usable"),
        ({"cpu": "A", "memory_bytes": 2**35, "memory_limit_bytes": 2**33}, "A, 32 GiB memory (8 GiB usable)"),
        ({"cpu": "A", "hypervisor": "KVM"}, "A, virtual machine"),
        ({"cpu": 5, "physical_cores": "many", "memory_bytes": None, "gpus": "no", "system": 3}, "unnamed processor"),
        ({}, "unnamed processor"),
    ],
)  # fmt: skip
def test_a_machine_that_an_import_describes_oddly_is_described_as_far_as_it_is(environment, host):
    assert described("here", environment).host == host
    assert described("here", environment).gpus == ()


def test_versions_are_those_of_the_frameworks_then_python_and_netdyno():
    used = {
        ("pytorch-2", 32): {"numpy": "2.4.0", "torch": "2.9.1", "python": "3.12.3"},
        ("pytorch-2", 64): {"torch": "2.8.0", "python": "3.12.3"},
        ("mine", 32): {"numpy": "2.4.0", "mylib": "7", "python": "3.13.0"},
        ("null", 32): {"numpy": "2.4.0", "python": "3.12.3"},
    }
    found = survey(
        *(
            runs_of(framework=name, batch=batch, versions=v, netdyno_version="0.2.0")
            for (name, batch), v in used.items()
        )
    )
    assert found.versions == ("PyTorch 2: 2.8.0, 2.9.1", "mine: 7", "Python: 3.12.3, 3.13.0", "netdyno: 0.2.0")


def test_machines_beyond_a_few_are_counted_and_the_newest_come_first():
    groups = [
        runs_of(machine=f"m{day}", started_at=f"2026-11-0{day}T10:00:00+00:00", environment={"cpu": f"CPU {day}"})
        for day in range(1, 9)
    ]
    found = survey(*groups)
    assert [machine.id for machine in found.machines] == ["m8", "m7", "m6", "m5", "m4", "m3"]
    assert found.left_out == 8 - MOST_MACHINES
