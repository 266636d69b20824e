"""One GPU through a fake NVML: what is read, what is missing and why, how often."""

from typing import Any

import pynvml
import pytest
from tests.devices.fake_nvml import (
    CALLS,
    FUNCTION_NOT_FOUND,
    LOST,
    NO_PERMISSION,
    NOT_SUPPORTED,
    RESERVED_BYTES,
    FakeClock,
    FakeNvml,
)

from netdyno.devices.monitor.gpu import MOST_FAILURES, READINGS, NvidiaGpu, open_gpu, throttle_words
from netdyno.devices.nvidia.facts import read_facts
from netdyno.devices.nvidia.nvml import NoAnswer, NoLibrary, opened, start_nvml


def _open(**settings: Any) -> tuple[FakeNvml, NvidiaGpu]:
    nvml = FakeNvml(**settings)
    return nvml, open_gpu(nvml, 0, "gpu0")


def test_the_fake_has_nothing_that_pynvml_has_not() -> None:
    assert [name for name in CALLS if not hasattr(pynvml, name)] == []
    numbers = [name for name in CALLS if isinstance(getattr(FakeNvml, name, None), int)]
    assert {name: getattr(pynvml, name) for name in numbers} == {name: getattr(FakeNvml, name) for name in numbers}


def test_a_healthy_card_gives_every_reading_in_its_unit() -> None:
    nvml, gpu = _open(clock=FakeClock(), used_bytes=5 * 2**30, mask=4)
    read = gpu.read(nvml.clock())
    assert gpu.missing == {}
    assert gpu.readings == READINGS
    assert set(read) == set(READINGS) - {"process_bytes", "own_processes"}  # there is no worker yet
    assert read["power_instant_w"] == pytest.approx(79.8, abs=0.1)
    assert (read["power_average_w"], read["energy_j"]) == (78.889, pytest.approx(82462.693))
    assert (read["memory_used_bytes"], read["processes"]) == (5 * 2**30, 0)
    assert (read["sm_mhz"], read["memory_mhz"], read["temperature_c"]) == (345, 3201, 33)
    assert (read["utilisation"], read["memory_utilisation"], read["throttle"]) == (0.99, 0.40, 4)


def test_facts_are_plain_data_and_none_where_refused() -> None:
    nvml = FakeNvml(refused={"nvmlDeviceGetEccMode": NOT_SUPPORTED, "nvmlDeviceGetMemoryInfo": NOT_SUPPORTED})
    facts = read_facts(nvml, 0)
    assert (facts.name, facts.driver, facts.compute_capability) == ("NVIDIA H200", "580.159.04", "9.0")
    assert (facts.power_cap_w, facts.largest_sm_mhz, facts.largest_memory_mhz) == (700.0, 1980, 3201)
    assert (facts.mig, facts.persistence, facts.compute_mode) == (False, True, "shared")
    assert (facts.ecc, facts.memory_bytes) == (None, None)


@pytest.mark.parametrize(
    ("call", "reading"),
    [
        ("field 186", "power_instant_w"),
        ("nvmlDeviceGetTotalEnergyConsumption", "energy_j"),
        ("nvmlDeviceGetTemperature", "temperature_c"),
        ("nvmlDeviceGetUtilizationRates", "utilisation"),
        ("nvmlDeviceGetComputeRunningProcesses", "process_bytes"),
    ],
)
def test_what_is_refused_is_missing_in_words_and_asked_only_once(call: str, reading: str) -> None:
    nvml, gpu = _open(refused={call: NO_PERMISSION})
    asked = nvml.calls[call]
    assert gpu.missing[reading] == "no permission to read it"
    assert reading not in gpu.readings
    assert reading not in gpu.read(0.0)
    assert nvml.calls[call] == asked


def test_a_card_that_does_not_know_the_field_tells_its_average_power_the_old_way() -> None:
    _, gpu = _open(refused={"field 185": NOT_SUPPORTED})
    assert gpu.read(0.0)["power_average_w"] == 78.861


def test_an_old_driver_counts_its_own_memory_too() -> None:
    _, gpu = _open(refused={"nvmlDeviceGetMemoryInfo v2": FUNCTION_NOT_FOUND})
    assert gpu.read(0.0)["memory_used_bytes"] == RESERVED_BYTES


def test_throttle_reasons_are_read_by_their_old_name_too() -> None:
    _, gpu = _open(refused={"nvmlDeviceGetCurrentClocksEventReasons": FUNCTION_NOT_FOUND}, mask=8)
    assert gpu.read(0.0)["throttle"] == 8


def test_a_call_that_an_old_driver_has_in_another_form_is_missing() -> None:
    _, gpu = _open(mismatched=("nvmlDeviceGetComputeRunningProcesses",))
    assert gpu.missing["processes"] == "this driver is too old to report it"


def test_with_mig_the_whole_card_tells_no_memory_but_its_power() -> None:
    _, gpu = _open(mig=1)
    assert "MIG" in gpu.missing["memory_used_bytes"]
    assert "MIG" in gpu.missing["utilisation"]
    assert {"power_instant_w", "energy_j", "sm_mhz"} <= set(gpu.read(0.0))


def test_a_gpu_lost_in_the_middle_is_asked_no_more() -> None:
    nvml, gpu = _open(clock=FakeClock())
    nvml.lost_after_calls = nvml.calls.total() + 5  # a field counts twice
    assert set(gpu.read(0.0)) == {"power_instant_w", "power_average_w", "memory_used_bytes"}
    assert (gpu.readings, set(gpu.missing)) == ((), set(READINGS))
    assert all("lost" in reason for reason in gpu.missing.values())
    asked = nvml.calls.total()
    assert gpu.read(1.0) == {}
    gpu.poll(1.0)
    assert nvml.calls.total() == asked


def test_a_reading_that_stumbles_comes_back_and_one_that_keeps_failing_is_given_up() -> None:
    nvml, gpu = _open()
    nvml.refused["nvmlDeviceGetTemperature"] = 10  # timeout
    assert "temperature_c" not in gpu.read(0.0)
    del nvml.refused["nvmlDeviceGetTemperature"]
    assert gpu.read(1.0)["temperature_c"] == 33
    nvml.refused["nvmlDeviceGetTemperature"] = 10
    for tick in range(MOST_FAILURES):
        assert "temperature_c" not in gpu.missing
        gpu.read(2.0 + tick)
    assert "in a row" in gpu.missing["temperature_c"]


def test_a_process_whose_memory_is_not_told_makes_that_reading_missing_and_not_zero() -> None:
    nvml, gpu = _open()
    gpu.watch([4242])
    nvml.processes = [(4242, None)]
    read = gpu.read(0.0)
    assert "process_bytes" not in read
    assert read["processes"] == 1
    assert "does not report" in gpu.missing["process_bytes"]


def test_throttle_reasons_in_words() -> None:
    assert throttle_words(0) == throttle_words(1) == ()
    assert throttle_words(0x04) == ("power cap",)
    assert throttle_words(0x48) == ("hardware slowdown", "hardware thermal")
    assert throttle_words(0x20 | 0x80 | 0x10 | 0x02) == (
        "software thermal", "power brake", "sync boost", "application clocks",
    )  # fmt: skip
    assert throttle_words(0x1000) == ("unknown reason 0x1000",)


def test_nvml_that_is_not_installed_is_told_apart_from_one_that_does_not_answer() -> None:
    with pytest.raises(NoLibrary):
        start_nvml(FakeNvml(refused={"nvmlInit": 12}))
    with pytest.raises(NoAnswer, match="Driver Not Loaded"):
        start_nvml(FakeNvml(refused={"nvmlInit": 9}))
    with pytest.raises(NoAnswer, match="lost"), opened(FakeNvml()) as nvml:
        raise nvml.NVMLError(LOST)
