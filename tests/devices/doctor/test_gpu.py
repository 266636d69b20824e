"""What about a GPU disturbs a measurement."""

from typing import Any, get_args

import pytest
from tests.devices.fake_nvml import DRIVER_NOT_LOADED, NOT_SUPPORTED, FakeNvml

from netdyno.devices.doctor.finding import Finding, State
from netdyno.devices.doctor.gpu import gpu_findings
from netdyno.devices.doctor.gpu_state import read_gpu_states


def _findings(**settings: Any) -> dict[str, Finding]:
    (state,) = read_gpu_states(FakeNvml(**settings))
    return {finding.what.removeprefix("GPU 0 "): finding for finding in gpu_findings(state)}


def test_an_idle_gpu_in_order_is_good_all_over() -> None:
    assert {what: found.hint for what, found in _findings().items() if found.state != "good"} == {}


@pytest.mark.parametrize(
    ("what", "state", "settings"),
    [
        ("clocks", "good", {"mask": 1}),
        ("clocks", "weak", {"mask": 0x04}),
        ("clocks", "weak", {"mask": 0x02}),
        ("clocks", "bad", {"mask": 0x48}),
        ("power cap", "weak", {"cap_mw": 350_000}),
        ("temperature", "good", {"temperature_c": 74}),
        ("temperature", "weak", {"temperature_c": 80}),
        ("temperature", "bad", {"temperature_c": 86}),
        ("memory", "good", {"used_bytes": 100 * 2**20}),
        ("memory", "weak", {"used_bytes": 10 * 2**30}),
        ("memory", "bad", {"used_bytes": 100 * 2**30}),
        ("ECC", "bad", {"uncorrected": 1}),
        ("MIG", "weak", {"mig": 1}),
        ("compute mode", "bad", {"compute_mode": 2}),
        ("persistence", "weak", {"persistence": 0}),
    ],
)
def test_each_trouble_is_seen_and_what_is_not_good_has_a_hint(
    what: str, state: str, settings: dict[str, Any]
) -> None:
    found = _findings(**settings)[what]
    assert found.state == state
    assert bool(found.hint) == (state != "good")


def test_throttle_reasons_are_named() -> None:
    assert _findings(mask=0x48)["clocks"].seen == "lowered: hardware slowdown, hardware thermal"


def test_a_card_that_tells_little_is_unknown_with_reasons() -> None:
    silent = ("Temperature", "CurrentClocksEventReasons", "CurrentClocksThrottleReasons", "EnforcedPowerLimit",
              "TotalEccErrors", "PersistenceMode", "ComputeMode", "MemoryInfo", "MemoryInfo v2")  # fmt: skip
    found = _findings(refused={f"nvmlDeviceGet{name}": NOT_SUPPORTED for name in silent})
    unknown = {what for what, finding in found.items() if finding.state == "unknown"}
    assert unknown == {"clocks", "power cap", "temperature", "memory", "ECC", "compute mode", "persistence"}
    assert found["temperature"].hint == "This GPU does not offer it."
    assert all(
        finding.state in get_args(State) and (finding.state == "good" or finding.hint) for finding in found.values()
    )


def test_no_driver_no_states() -> None:
    assert read_gpu_states(FakeNvml(refused={"nvmlInit": DRIVER_NOT_LOADED})) == []
