"""What is made of a monitor's trace: energy, memory, and what they say against a run."""

import json
from pathlib import Path

import pytest
from tests.results.samples import make_cell

from netdyno.devices.trace import read_trace, row_line, start_lines
from netdyno.harness.energy import joules_by_counter, joules_by_power
from netdyno.harness.readings import TRACE, take_readings

RECORDED = Path(__file__).parent / "recordings" / "h200-alexnet"
STARTED, WARM, END = 100.0, 103.0, 113.0  # launched, timed part from … to
BATCH, STEPS, STEP_S = 64, 1000, 0.01
BUSY = {
    "gpu0.power_instant_w": 500.0,
    "gpu0.memory_used_bytes": 5e9,
    "gpu0.processes": 1,
    "gpu0.sm_mhz": 1800,
    "gpu0.memory_mhz": 3201,
    "gpu0.temperature_c": 50,
    "gpu0.utilisation": 0.97,
    "gpu0.throttle": 0,
    "host.worker_cpu_s": None,
}
IDLE = {"gpu0.power_instant_w": 120.0, "gpu0.memory_used_bytes": 1e9, "gpu0.processes": 0}
NAMES = (*BUSY, "gpu0.energy_j")


def _trace(folder, *, busy=None, idle=None, without=(), watts=500.0, missing=None):
    """A row every 50 ms; the energy counter moves every 100 ms, by what the power says."""
    names = [name for name in NAMES if name not in without]
    lines = start_lines({"missing": missing or {}}, names)
    for tick in range(int(STARTED * 20) - 10, int(END * 20) + 20):
        at = tick / 20
        values = {**IDLE, **(idle or {})} if at < STARTED else {**BUSY, **(busy or {})}
        values |= {"host.worker_cpu_s": 2.0 * at, "gpu0.energy_j": watts * (tick // 2) / 10}
        values = {name: value(at) if callable(value) else value for name, value in values.items()}
        lines += row_line(at, names, {name: value for name, value in values.items() if name in names})
    (folder / TRACE).write_text(lines)


def _events(folder, asked_s=0.002, **more):
    events = [{"event": "built", "at": STARTED + 1.0}, {"event": "warmup", "at": WARM}]
    steps = STEPS // 10
    events += [
        {"event": "sample", "at": WARM + block + 1.0, "steps": steps, "seconds": steps * STEP_S}
        for block in range(10)
    ]
    events += [{"event": "memory", "at": END, "device_peak_bytes": 3, "device_reserved_bytes": 4_000}]
    events += [{"event": "launch", "at": END, "asked_s": asked_s, "computed_s": STEP_S}]
    events += [{"event": name, "at": END, **fields} for name, fields in more.items()]
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


def _read(folder, device="cuda"):
    return take_readings(folder, make_cell(batch=BATCH, device=device), STARTED)


def test_energy_is_of_the_timed_window_only_and_told_with_and_without_what_idling_takes(tmp_path):
    _trace(tmp_path)
    _events(tmp_path)
    found = _read(tmp_path)
    images = STEPS * BATCH
    assert found.values["mean_w"] == pytest.approx(500, rel=1e-3)
    assert found.values["j_per_item"] == pytest.approx(5000 / images, rel=1e-3)
    assert found.values["j_per_item_above_idle"] == pytest.approx(3800 / images, rel=2e-3)
    assert found.values["energy_integral_j"] == pytest.approx(5000, rel=1e-3)
    assert found.values["idle_w"] == 120
    assert found.flags == []


def test_memory_is_counted_above_what_was_in_use_before(tmp_path):
    _trace(tmp_path)
    _events(tmp_path)
    found = _read(tmp_path)
    assert found.values["device_seen_bytes"] == 4e9
    assert found.values["device_reserved_bytes"] == 4_000


def test_a_counter_that_disagrees_with_the_integral_is_told(tmp_path):
    _trace(tmp_path, watts=470.0)
    _events(tmp_path)
    found = _read(tmp_path)
    assert found.values["j_per_item"] == pytest.approx(4700 / (STEPS * BATCH), rel=1e-3)
    assert found.flags == ["energy sources disagree (integral +6.4% off the counter)"]


def test_what_may_come_from_the_moments_at_which_a_swinging_power_was_seen_is_no_disagreement(tmp_path):
    def swinging(at):
        return 300.0 if int(at * 10 + 0.01) % 2 else 500.0

    _trace(tmp_path, watts=415.0, busy={"gpu0.power_instant_w": swinging})
    _events(tmp_path)
    found = _read(tmp_path)
    assert found.values["energy_disagreement"] == pytest.approx(-0.036, abs=0.005)  # over 2 %
    assert found.flags == []


def test_a_reading_that_could_not_be_made_is_absent_with_its_reason_and_never_zero(tmp_path):
    _trace(tmp_path, without=["gpu0.energy_j"], missing={"gpu0.energy_j": "this GPU does not offer it"})
    _events(tmp_path)
    found = _read(tmp_path)
    assert found.absent["energy_counter_j"] == "this GPU does not offer it"
    assert "energy_counter_j" not in found.values
    assert found.values["j_per_item"] == pytest.approx(5000 / (STEPS * BATCH), rel=1e-3)


def test_without_a_trace_everything_of_it_is_absent_and_the_run_stands(tmp_path):
    _events(tmp_path)
    found = _read(tmp_path)
    assert "left no trace" in found.absent["device_seen_bytes"]
    assert found.absent["j_per_item"] == "neither power nor energy could be read"
    assert found.values == {"asked_s": 0.002, "device_reserved_bytes": 4_000}


@pytest.mark.parametrize(
    ("changed", "flag"),
    [
        ({"busy": {"gpu0.throttle": 4}}, "throttled (power cap, 100% of the time)"),
        ({"busy": {"gpu0.processes": 2}}, "foreign GPU process (1 beside the worker)"),
        ({"idle": {"gpu0.processes": 1}}, "foreign GPU process (1 beside the worker)"),
        ({"busy": {"gpu0.temperature_c": lambda at: 40 + 2 * (at - WARM)}}, "temperature drifting (41 to 59 °C)"),
    ],
)
def test_what_disturbs_a_gpu_is_told(tmp_path, changed, flag):
    _trace(tmp_path, **changed)
    _events(tmp_path)
    assert _read(tmp_path).flags == [flag]


def test_an_idle_gpu_is_not_called_throttled(tmp_path):
    _trace(tmp_path, busy={"gpu0.throttle": 1})
    _events(tmp_path)
    assert _read(tmp_path).values["throttled"] == 0
    assert _read(tmp_path).flags == []


def test_a_device_that_waits_for_its_host_is_told_by_how_much(tmp_path):
    _trace(tmp_path)
    _events(tmp_path, asked_s=0.0097)
    assert _read(tmp_path).flags == ["host-bound (asking takes 9.7 of 10 ms a step)"]


def test_the_idle_power_is_the_lowest_before_there_is_work(tmp_path):
    """A device that has just ended another run needs a second to calm down."""
    _trace(tmp_path, idle={"gpu0.power_instant_w": 150.0}, busy={"gpu0.power_instant_w": _calm_then_busy})
    _events(tmp_path)
    assert _read(tmp_path).values["idle_w"] == 78.0


@pytest.mark.parametrize(("before", "idle_w"), [(78.0, 78.0), (130.0, 120.0), (None, 120.0)])
def test_a_run_that_begins_before_the_device_has_calmed_down_knows_its_idle_power_from_the_run_before(
    tmp_path, before, idle_w
):
    _trace(tmp_path)
    _events(tmp_path)
    found = take_readings(tmp_path, make_cell(batch=BATCH, device="cuda"), STARTED, idle_w=before)
    assert found.values["idle_w"] == idle_w
    expected = (500 - idle_w) * (END - WARM) / (STEPS * BATCH)
    assert found.values["j_per_item_above_idle"] == pytest.approx(expected, rel=2e-3)


def _calm_then_busy(at):
    return 78.0 if STARTED + 0.4 < at < STARTED + 0.8 else 500.0


def test_stages_of_a_step_are_read_or_absent(tmp_path):
    _trace(tmp_path)
    _events(tmp_path, split={"stages": {"forward": 0.003, "backward": 0.006, "update": 0.001}})
    assert _read(tmp_path).values["backward_s"] == 0.006
    _events(tmp_path, split={"absent": "this adapter cannot"})
    assert _read(tmp_path).absent["split"] == "this adapter cannot"


def test_on_a_cpu_only_the_host_is_read(tmp_path):
    _trace(tmp_path)
    _events(tmp_path)
    found = _read(tmp_path, device="cpu")
    assert found.values["busy_cores"] == pytest.approx(2.0)
    assert not [name for name in {**found.values, **found.absent} if name.endswith(("_w", "_mhz"))]


@pytest.mark.parametrize("told", [{"event": "launch", "at": END}, {"event": "sample", "steps": 1, "seconds": 1.0}])
def test_a_worker_that_leaves_out_half_of_an_event_costs_its_readings_and_not_its_run(tmp_path, told):
    _trace(tmp_path)
    _events(tmp_path)
    lines = (tmp_path / "events.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["event"] != told["event"]]
    (tmp_path / "events.jsonl").write_text("".join([*kept, json.dumps(told) + "\n"]))
    found = _read(tmp_path)
    assert found.values == {}
    assert "do not say when" in found.absent["readings"]


def test_a_run_recorded_on_an_h200_reads_as_it_did_there():
    """alexnet/imagenet, batch 128, float32: 5,926 images/s; its trace and events are as they were written."""
    found = take_readings(RECORDED, make_cell(batch=128, device="cuda"), launched=159.80)
    assert found.values["mean_w"] == pytest.approx(565.8, abs=0.1)
    assert found.values["peak_w"] == pytest.approx(590.2, abs=0.1)
    assert found.values["idle_w"] == pytest.approx(78, abs=1)
    assert found.values["j_per_item"] == pytest.approx(0.0955, abs=1e-4)
    assert abs(found.values["energy_disagreement"]) < 0.01
    assert found.values["device_seen_bytes"] > found.values["device_reserved_bytes"] > 3e9
    assert found.values["utilisation"] > 0.95
    assert found.flags == []
    assert set(found.absent) == {"package_j_per_item"}


def test_the_recorded_device_refreshes_ten_times_a_second_and_was_read_twenty_times():
    trace = read_trace(RECORDED / TRACE)
    assert trace.refresh_s["gpu0"] == pytest.approx(0.1, rel=0.02)
    times = [at for at, _ in trace.series("gpu0.power_instant_w")]
    assert len(times) / (times[-1] - times[0]) == pytest.approx(20, rel=0.03)


def test_a_late_counter_does_not_shift_the_energy():
    """A counter that is up to a refresh late at both edges, as all are."""
    late = [(t / 20, 300.0 * (t // 2) / 10) for t in range(0, 100)]
    assert joules_by_counter(late, 5.0) == pytest.approx(1500, rel=2e-3)


def test_the_integral_reaches_both_edges():
    assert joules_by_power([(1.0, 100.0), (2.0, 200.0)], 0.5, 3.0) == pytest.approx(50 + 150 + 200)


def _phases(compute_s, load_s, fed=(STEP_S,) * 5):
    loader = {"read_s": 0.001, "decode_s": 0.02}
    turns = [[compute_s, fed_s] for fed_s in fed]
    return {"compute_s": compute_s, "load_s": load_s, "feed_s": load_s, "loader": loader, "turns": turns}


def test_a_loader_slower_than_the_device_is_what_bounds_a_run(tmp_path):
    _trace(tmp_path)
    _events(tmp_path, phases=_phases(compute_s=STEP_S / 4, load_s=STEP_S))
    found = _read(tmp_path)
    told = "input-bound (the loader gives 6,400 images/s, most of it decode; the device could take 25,600)"
    assert told in found.flags
    assert found.values["compute_items_per_s"] == pytest.approx(25_600)
    assert found.values["load_decode_s"] == 0.02


def test_a_loader_that_is_fast_enough_but_in_the_way_is_told_as_that(tmp_path):
    _trace(tmp_path)
    _events(tmp_path, phases=_phases(compute_s=STEP_S / 2, load_s=STEP_S / 10))
    assert "slowed by feeding (without, it would make 12,800 images/s)" in _read(tmp_path).flags


def test_a_machine_that_slowed_down_for_a_while_is_not_mistaken_for_a_slow_feed(tmp_path):
    """Computing and feeding are timed in turns: if one turn with feeding was as fast, the others had other causes."""
    _trace(tmp_path)
    drifting = (STEP_S, STEP_S, STEP_S, STEP_S / 2, STEP_S / 2)
    _events(tmp_path, phases=_phases(compute_s=STEP_S / 2, load_s=STEP_S / 10, fed=drifting))
    assert _read(tmp_path).flags == []


def test_a_run_that_is_fed_as_fast_as_it_computes_is_not_reproached(tmp_path):
    _trace(tmp_path)
    _events(tmp_path, phases=_phases(compute_s=STEP_S * 0.97, load_s=STEP_S / 10))
    assert _read(tmp_path).flags == []
