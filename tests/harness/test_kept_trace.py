"""What of a trace goes into a record: few points, the ends and the extremes among them."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.results.samples import make_cell

from netdyno.devices.trace import Trace, read_trace
from netdyno.harness.kept_trace import MOST, kept_trace, thin
from netdyno.harness.readings import take_readings
from netdyno.protocol.event_log import read_events

RECORDED = Path(__file__).parent / "recordings" / "h200-alexnet" / "monitor.csv"
SERIES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=2000).map(lambda values: list(enumerate(values)))


@given(series=SERIES)
def test_a_thinned_series_is_short_in_order_and_keeps_its_ends_and_extremes(series):
    kept = thin(series)
    assert len(kept) <= MOST
    assert set(kept) <= set(series)
    assert [at for at, _ in kept] == sorted(at for at, _ in kept)
    assert (kept[0], kept[-1]) == (series[0], series[-1])
    values = [value for _, value in series]
    assert {min(values), max(values)} <= {value for _, value in kept}


def test_a_level_line_is_kept_by_its_ends():
    assert thin([(0, 5.0), (1, 5.0), (2, 5.0), (3, 7.0), (4, 7.0), (5, 7.0)]) == [
        (0, 5.0),
        (2, 5.0),
        (3, 7.0),
        (5, 7.0),
    ]


def test_points_are_spread_evenly_over_the_window():
    kept = thin([(at, float(at % 7)) for at in range(10_000)])
    gaps = [after - before for (before, _), (after, _) in pairwise(kept)]
    assert max(gaps) <= 2 * 10_000 / 99 + 1


def test_only_the_timed_window_is_kept_from_its_start():
    power = tuple((100 + tick / 10, 100.0 + tick) for tick in range(50))
    trace = Trace(columns={"gpu0.power_average_w": power, "host.worker_cpu_s": ((101.0, 4.0), (102.0, 6.5))})
    kept = kept_trace(trace, 101.0, 103.0)
    assert set(kept) == {"power_w", "busy_cores"}
    assert kept["power_w"][0] == [0.0, 110.0]
    assert kept["power_w"][-1] == [2.0, 130.0]
    assert kept["busy_cores"] == [[1.0, 2.5]]


def test_a_recorded_trace_of_a_gpu_gives_every_reading_in_little_space():
    trace = read_trace(RECORDED)
    start, end = trace.series("gpu0.power_instant_w")[0][0], trace.series("gpu0.power_instant_w")[-1][0]
    kept = kept_trace(trace, start, end)
    assert set(kept) == {
        "power_w", "sm_clock_mhz", "memory_clock_mhz", "memory_bytes", "temperature_c", "utilisation",
        "host_memory_bytes", "busy_cores",
    }  # fmt: skip
    assert all(len(points) <= MOST for points in kept.values())
    highest = max(value for _, value in trace.series("gpu0.power_instant_w"))
    assert max(value for _, value in kept["power_w"]) == round(highest, 3)


def test_the_readings_of_a_run_bring_its_trace_over_the_timed_window():
    log = read_events(RECORDED.with_name("events.jsonl"))
    found = take_readings(log, RECORDED, make_cell(device="cuda", batch=512), 0.0)
    seconds = [at for at, _ in found.trace["power_w"]]
    assert seconds[0] < 0.1
    highest = max(value for _, value in found.trace["power_w"])
    assert highest == pytest.approx(found.values["peak_w"], rel=1e-5)


def test_a_run_without_a_trace_keeps_none():
    assert kept_trace(Trace(problem="the monitor left no trace"), 0.0, 1.0) == {}
