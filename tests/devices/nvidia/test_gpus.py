"""GPUs as a fake NVML tells them."""

import os
from dataclasses import replace

import pytest
from tests.devices.fake_nvml import DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, NO_PERMISSION, NOT_SUPPORTED, FakeNvml
from tests.devices.test_machine import GPU

from netdyno.devices.machine import describe_machine, machine_id
from netdyno.devices.nvidia import gpus
from netdyno.devices.nvidia.gpus import Gpu, Gpus, count_other_processes, find_gpus

H200 = Gpu(
    name="NVIDIA H200",
    memory_bytes=150754820096,
    driver="580.159.04",
    power_cap_w=700.0,
    sm_clock_mhz=1980,
    compute_capability="9.0",
    ecc=True,
    mig=False,
)


def test_no_library_means_no_gpu_and_no_problem() -> None:
    nvml = FakeNvml(refused={"nvmlInit": LIBRARY_NOT_FOUND})
    assert find_gpus(nvml) == Gpus()
    assert count_other_processes(nvml) is None


def test_each_card_is_a_gpu() -> None:
    assert find_gpus(FakeNvml(count=2)) == Gpus(found=(H200, H200))


def test_what_a_card_does_not_tell_is_none() -> None:
    silent = ("MemoryInfo", "EnforcedPowerLimit", "MaxClockInfo", "CudaComputeCapability", "EccMode", "MigMode")
    nvml = FakeNvml(refused={f"nvmlDeviceGet{name}": NOT_SUPPORTED for name in silent})
    assert find_gpus(nvml).found == (Gpu(name="NVIDIA H200", memory_bytes=None, driver="580.159.04"),)


def test_a_driver_that_fails_is_a_problem_in_words() -> None:
    nvml = FakeNvml(refused={"nvmlInit": DRIVER_NOT_LOADED})
    assert find_gpus(nvml) == Gpus(problem="NVML: Driver Not Loaded")
    assert count_other_processes(nvml) is None


def test_a_card_that_is_lost_is_a_problem_of_its_own() -> None:
    found = find_gpus(FakeNvml(count=2, refused={"nvmlDeviceGetHandleByIndex": 15}))
    assert found.found == ()
    assert found.problem.startswith("GPU 0: the GPU is lost")


def test_a_driver_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "LIMIT_S", 0.05)
    assert "did not answer" in find_gpus(FakeNvml(hang_s=1.0)).problem


def test_processes_are_counted_once_and_this_one_not() -> None:
    nvml = FakeNvml(count=2, processes=[(11, 1), (12, 1), (os.getpid(), 1)])
    assert count_other_processes(nvml) == 2
    assert count_other_processes(FakeNvml(refused={"nvmlDeviceGetComputeRunningProcesses": NO_PERMISSION})) is None


def test_a_lowered_power_cap_or_another_driver_does_not_make_another_machine() -> None:
    machine = describe_machine(gpus=Gpus(found=(GPU,)))
    capped = replace(
        GPU, power_cap_w=300.0, sm_clock_mhz=1500, compute_capability="9.0", ecc=True, mig=True, driver="9"
    )
    assert machine_id(replace(machine, gpus=(capped,))) == machine_id(machine)
