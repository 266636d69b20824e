"""Power, energy, memory and clocks of the GPUs of a run, and what they say against it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.runtime.readings.traces import (
    END,
    ITEMS,
    RECORDED,
    RECORDED_WINDOW,
    STARTED,
    WARM,
    WINDOW,
    copied,
    make_trace,
)

from netdyno.devices.monitor.trace import TRACE, read_trace
from netdyno.runtime.readings.energy import combined, joules_by_counter, joules_by_power
from netdyno.runtime.readings.gpus import RULES, read_gpus
from netdyno.runtime.readings.window import Readings

SUMMED = (
    "device_seen_bytes", "energy_counter_j", "energy_integral_j", "peak_w", "idle_w", "mean_w", "j_per_item",
    "j_per_item_above_idle",
)  # fmt: skip


def _recorded() -> dict[str, float]:
    """What netdyno read of one GPU before it could read several."""
    values: dict[str, float] = json.loads((RECORDED / "readings.json").read_text())["values"]
    return {name: values[name] for name in (*RULES, *SUMMED, "energy_disagreement")}


def test_energy_is_of_the_timed_window_only_with_and_without_what_idling_takes(tmp_path: Path) -> None:
    found = read_gpus(make_trace(tmp_path), WINDOW)
    assert found.values["mean_w"] == pytest.approx(500, rel=1e-3)
    assert found.values["j_per_item"] == pytest.approx(5000 / ITEMS, rel=1e-3)
    assert found.values["j_per_item_above_idle"] == pytest.approx(3800 / ITEMS, rel=2e-3)
    assert found.values["energy_integral_j"] == pytest.approx(5000, rel=1e-3)
    assert found.values["idle_w"] == 120
    assert found.flags == []


def test_memory_is_counted_above_what_was_in_use_before(tmp_path: Path) -> None:
    found = read_gpus(make_trace(tmp_path), WINDOW)
    assert found.values["device_seen_bytes"] == 4e9
    assert "device_seen_largest_bytes" not in found.values


def test_a_counter_that_disagrees_with_the_integral_is_flagged(tmp_path: Path) -> None:
    found = read_gpus(make_trace(tmp_path, watts=470.0), WINDOW)
    assert found.values["j_per_item"] == pytest.approx(4700 / ITEMS, rel=1e-3)
    assert found.flags == ["energy sources disagree (integral +6.4% off the counter)"]


def test_what_may_be_due_to_the_times_at_which_a_swinging_power_was_sampled_is_no_disagreement(
    tmp_path: Path,
) -> None:
    def swinging(at: float) -> float:
        return 300.0 if int(at * 10 + 0.01) % 2 else 500.0

    found = read_gpus(make_trace(tmp_path, watts=415.0, busy={"gpu0.power_instant_w": swinging}), WINDOW)
    assert found.values["energy_disagreement"] == pytest.approx(-0.036, abs=0.005)  # over 2 %
    assert found.flags == []


def test_a_reading_that_could_not_be_made_is_absent_with_its_reason_and_never_zero(tmp_path: Path) -> None:
    trace = make_trace(tmp_path, without=["gpu0.energy_j"], missing={"gpu0.energy_j": "this GPU does not offer it"})
    found = read_gpus(trace, WINDOW)
    assert found.absent["energy_counter_j"] == "this GPU does not offer it"
    assert "energy_counter_j" not in found.values
    assert found.values["j_per_item"] == pytest.approx(5000 / ITEMS, rel=1e-3)


def test_without_a_trace_every_reading_is_absent(tmp_path: Path) -> None:
    found = read_gpus(read_trace(tmp_path / TRACE), WINDOW)
    assert "left no trace" in found.absent["device_seen_bytes"]
    assert found.absent["j_per_item"] == "neither power nor energy could be read"
    assert set(found.absent) == {*RULES, "peak_w", "mean_w", "j_per_item", "j_per_item_above_idle"}
    assert (found.values, found.flags) == ({}, [])


@pytest.mark.parametrize(
    ("busy", "idle", "flag"),
    [
        ({"gpu0.throttle": 4}, {}, "throttled (power cap, 100% of the time)"),
        ({"gpu0.processes": 2}, {}, "foreign GPU process (1 beside the worker)"),
        ({}, {"gpu0.processes": 1}, "foreign GPU process (1 beside the worker)"),
        ({"gpu0.temperature_c": lambda at: 40 + 2 * (at - WARM)}, {}, "temperature drifting (41 to 59 °C)"),
    ],
)
def test_what_disturbs_a_gpu_is_flagged(tmp_path: Path, busy: dict, idle: dict, flag: str) -> None:
    assert read_gpus(make_trace(tmp_path, busy=busy, idle=idle), WINDOW).flags == [flag]


def test_an_idle_gpu_is_not_called_throttled(tmp_path: Path) -> None:
    found = read_gpus(make_trace(tmp_path, busy={"gpu0.throttle": 1}), WINDOW)
    assert (found.values["throttled"], found.flags) == (0, [])


def test_the_idle_power_is_the_lowest_before_there_is_work(tmp_path: Path) -> None:
    """A device that has just ended another run needs a second to become idle."""

    def calm_then_busy(at: float) -> float:
        return 78.0 if STARTED + 0.4 < at < STARTED + 0.8 else 500.0

    power = "gpu0.power_instant_w"
    trace = make_trace(tmp_path, idle={power: 150.0}, busy={power: calm_then_busy})
    assert read_gpus(trace, WINDOW).values["idle_w"] == 78.0


@pytest.mark.parametrize(("before", "idle_w"), [(78.0, 78.0), (130.0, 120.0), (None, 120.0)])
def test_a_run_that_begins_before_the_device_is_idle_knows_its_idle_power_from_the_run_before(
    tmp_path: Path, before: float | None, idle_w: float
) -> None:
    found = read_gpus(make_trace(tmp_path), replace(WINDOW, idle_w=before))
    assert found.values["idle_w"] == idle_w
    expected = (500 - idle_w) * (END - WARM) / ITEMS
    assert found.values["j_per_item_above_idle"] == pytest.approx(expected, rel=2e-3)


def test_a_run_recorded_on_one_gpu_reads_to_the_last_bit_as_it_did_then() -> None:
    found = read_gpus(read_trace(RECORDED / TRACE), RECORDED_WINDOW)
    assert found.values == _recorded()
    assert found.flags == []


@pytest.mark.parametrize("gpus", [2, 8])
def test_gpus_that_do_the_same_take_so_many_times_the_energy_and_memory_of_one(gpus: int) -> None:
    one = _recorded()
    found = read_gpus(copied(read_trace(RECORDED / TRACE), gpus), RECORDED_WINDOW)
    scaled = {name: one[name] * (gpus if name in SUMMED else 1) for name in one}
    assert found.values.pop("device_seen_largest_bytes") == one["device_seen_bytes"]
    assert found.values == pytest.approx(scaled, rel=1e-12)
    assert (found.absent, found.flags) == ({}, [])


@pytest.mark.parametrize("gpus", [2, 8])
def test_gpus_that_differ_are_summed_or_the_worst_of_them_counts(tmp_path: Path, gpus: int) -> None:
    last = f"gpu{gpus - 1}"
    busy = {f"{last}.memory_used_bytes": 9e9, f"{last}.sm_mhz": 1200, f"{last}.temperature_c": 80}
    busy |= {f"{last}.utilisation": 0.17, f"{last}.memory_mhz": 2600}
    found = read_gpus(make_trace(tmp_path, gpus=gpus, busy=busy), WINDOW).values
    assert (found["device_seen_bytes"], found["device_seen_largest_bytes"]) == (4e9 * gpus + 4e9, 8e9)
    assert (found["sm_mhz"], found["memory_mhz"], found["temperature_c"]) == (1200, 2600, 80)
    assert found["utilisation"] == pytest.approx(0.97 - 0.8 / gpus)
    assert found["mean_w"] == pytest.approx(500 * gpus, rel=1e-3)
    assert (found["idle_w"], found["peak_w"]) == (120 * gpus, 500 * gpus)


def test_the_peak_is_that_of_the_sum_and_not_the_sum_of_peaks(tmp_path: Path) -> None:
    """Two GPUs that take turns never draw the power of both."""
    turns = {
        f"gpu{gpu}.power_instant_w": lambda at, gpu=gpu: 600.0 if int(at) % 2 == gpu else 100.0 for gpu in (0, 1)
    }
    assert read_gpus(make_trace(tmp_path, gpus=2, busy=turns), WINDOW).values["peak_w"] == 700


def test_a_reading_that_one_of_several_gpus_lacks_is_absent(tmp_path: Path) -> None:
    """A part would pass for the whole."""
    missing = {"gpu1.energy_j": "no permission to read it"}
    found = read_gpus(make_trace(tmp_path, gpus=2, without=["gpu1.energy_j"], missing=missing), WINDOW)
    assert found.absent["energy_counter_j"] == "no permission to read it"
    assert found.values["j_per_item"] == pytest.approx(10_000 / ITEMS, rel=1e-3)  # by the integral


def test_a_gpu_that_could_not_be_opened_is_not_left_out_of_the_sum(tmp_path: Path) -> None:
    missing = {f"gpu2.{name}": "the GPU is lost" for name in ("power_instant_w", "energy_j", "memory_used_bytes")}
    found = read_gpus(make_trace(tmp_path, gpus=2, missing=missing), WINDOW)
    assert found.absent["energy_counter_j"] == found.absent["device_seen_bytes"] == "the GPU is lost"
    assert found.absent["j_per_item"] == "neither power nor energy could be read"
    assert "idle_w" not in found.values


@pytest.mark.parametrize(
    ("busy", "flag"),
    [
        ({"gpu1.throttle": 4}, "throttled (power cap, 100% of the time on GPU 1)"),
        ({"gpu6.temperature_c": lambda at: 40 + 2 * (at - WARM)}, "temperature drifting (41 to 59 °C on GPU 6)"),
        ({"gpu3.processes": 3}, "foreign GPU process (2 beside the worker on GPU 3)"),
    ],
)
def test_of_several_gpus_the_worst_is_flagged_and_named(tmp_path: Path, busy: dict, flag: str) -> None:
    assert read_gpus(make_trace(tmp_path, gpus=8, busy=busy), WINDOW).flags == [flag]


def test_processes_of_several_ranks_on_one_gpu_are_not_foreign(tmp_path: Path) -> None:
    trace = make_trace(tmp_path, busy={"gpu0.processes": 4})
    assert read_gpus(trace, WINDOW).flags == ["foreign GPU process (3 beside the worker)"]
    times = [at for at, _ in trace.series("gpu0.processes")]
    own = {**trace.columns, "gpu0.own_processes": tuple((at, 4.0) for at in times)}
    assert read_gpus(replace(trace, columns=own), WINDOW) == _without_flags(read_gpus(trace, WINDOW))


def _without_flags(found: Readings) -> Readings:
    return Readings(values=found.values, absent=found.absent)


def test_a_late_counter_does_not_shift_the_energy() -> None:
    """A counter that is up to a refresh late at both edges, as all are."""
    late = [(t / 20, 300.0 * (t // 2) / 10) for t in range(0, 100)]
    assert joules_by_counter(late, 5.0) == pytest.approx(1500, rel=2e-3)


def test_the_integral_reaches_both_edges() -> None:
    assert joules_by_power([(1.0, 100.0), (2.0, 200.0)], 0.5, 3.0) == pytest.approx(50 + 150 + 200)


def test_series_with_other_times_are_combined_by_their_latest_values() -> None:
    first, second = [(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)], [(1.5, 1.0), (3.0, 3.0)]
    assert combined([first], sum) == first
    assert combined([first, second], sum) == [(1.5, 11.0), (2.0, 21.0), (3.0, 33.0)]
    assert combined([first, second], min) == [(1.5, 1.0), (2.0, 1.0), (3.0, 3.0)]
    assert combined([first, []], sum) == []
