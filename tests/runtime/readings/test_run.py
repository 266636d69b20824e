"""Which readings are made of a run folder: from its events, and from the trace that its monitor left."""

import json

import pytest
from tests.results.samples import make_cell
from tests.runtime.readings.traces import END, RECORDED, STARTED, WARM, make_trace

from netdyno.devices.monitor.trace import TRACE, read_trace
from netdyno.protocol.event_log import read_events
from netdyno.protocol.fields import PROTOCOL
from netdyno.runtime.readings.run import read_run, timed_window

BATCH, STEPS, STEP_S = 64, 1000, 0.01


def _events(folder, asked_s=0.002, **more):
    events = [
        {"event": "built", "at": STARTED + 1.0, "seconds": 1.0, "parameters": 1, "weights": "0"},
        {"event": "warmup", "at": WARM, "steady": True},
    ]
    steps = STEPS // 10
    events += [
        {"event": "sample", "at": WARM + block + 1.0, "steps": steps, "seconds": steps * STEP_S}
        for block in range(10)
    ]
    events += [{"event": "memory", "at": END, "device_peak_bytes": 3, "device_reserved_bytes": 4_000}]
    events += [{"event": "launch", "at": END, "asked_s": asked_s, "computed_s": STEP_S}]
    events += [{"event": name, "at": END, **fields} for name, fields in more.items()]
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


def _read(folder, device="cuda", batch=BATCH, launched=STARTED):
    log = read_events(folder / "events.jsonl")
    assert log.complaint == ""
    window = timed_window(log, batch, launched, None)
    return read_run(log, read_trace(folder / TRACE), window, make_cell(batch=batch, device=device), "images")


@pytest.fixture
def recorded(tmp_path):
    """The recorded run, made in protocol 1, in which these events differ only in the number they greet with."""
    events = (RECORDED / "events.jsonl").read_text().replace('"protocol": 1,', f'"protocol": {PROTOCOL},', 1)
    (tmp_path / "events.jsonl").write_text(events)
    (tmp_path / TRACE).write_bytes((RECORDED / TRACE).read_bytes())
    return tmp_path


def test_the_window_is_from_the_end_of_the_warmup_to_the_last_sample(tmp_path):
    make_trace(tmp_path)
    _events(tmp_path)
    found = _read(tmp_path)
    assert found.values["energy_integral_j"] == pytest.approx(5000, rel=1e-3)
    assert found.values["j_per_item"] == pytest.approx(5000 / (STEPS * BATCH), rel=1e-3)
    assert found.values["device_reserved_bytes"] == 4_000
    assert found.flags == []


def test_without_a_trace_everything_of_it_is_absent_and_the_run_stands(tmp_path):
    _events(tmp_path)
    found = _read(tmp_path)
    assert "left no trace" in found.absent["device_seen_bytes"]
    assert found.absent["j_per_item"] == "neither power nor energy could be read"
    assert found.values == {"asked_s": 0.002, "device_reserved_bytes": 4_000}


def test_stages_and_launch_times_of_a_step_are_read_from_the_events(tmp_path):
    make_trace(tmp_path)
    _events(tmp_path, split={"stages": {"forward": 0.003, "backward": 0.006, "update": 0.001}}, asked_s=0.0097)
    found = _read(tmp_path)
    assert found.values["backward_s"] == 0.006
    assert found.flags == ["host-bound (asking takes 9.7 of 10 ms a step)"]
    _events(tmp_path, split={"absent": "this adapter cannot"})
    assert _read(tmp_path).absent["split"] == "this adapter cannot"


def test_phases_of_loading_are_read_from_the_events(tmp_path):
    make_trace(tmp_path)
    loader = {"read_s": 0.001, "decode_s": 0.02}
    times = {"compute_s": STEP_S / 4, "load_s": STEP_S, "feed_s": STEP_S, "turns": [[STEP_S / 4, STEP_S]] * 5}
    _events(tmp_path, phases={**times, "loader": loader, "notes": {}})
    found = _read(tmp_path)
    flag = "input-bound (the loader gives 6,400 images/s, most of it decode; the device could take 25,600)"
    assert flag in found.flags
    assert found.values["compute_items_per_s"] == pytest.approx(25_600)


def test_on_a_cpu_only_the_host_is_read(tmp_path):
    make_trace(tmp_path)
    _events(tmp_path)
    found = _read(tmp_path, device="cpu")
    assert found.values["busy_cores"] == pytest.approx(2.0)
    assert not [name for name in {**found.values, **found.absent} if name.endswith(("_w", "_mhz"))]


def test_events_without_a_timed_block_leave_readings_absent(tmp_path):
    make_trace(tmp_path)
    _events(tmp_path)
    lines = (tmp_path / "events.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["event"] != "sample"]
    (tmp_path / "events.jsonl").write_text("".join(kept))
    found = _read(tmp_path)
    assert found.values == {}
    assert "do not say when" in found.absent["readings"]


def test_a_run_recorded_on_an_h200_reads_to_the_last_bit_as_it_did_there(recorded):
    """alexnet/imagenet, batch 128, float32: 5,926 images/s; its trace and events are as they were written."""
    found = _read(recorded, batch=128, launched=159.80)
    then = json.loads((RECORDED / "readings.json").read_text())
    assert {"values": found.values, "absent": found.absent, "flags": found.flags} == then
    assert found.values["mean_w"] == pytest.approx(565.8, abs=0.1)
    assert found.values["device_seen_bytes"] > found.values["device_reserved_bytes"] > 3e9


def test_the_readings_of_a_run_bring_its_trace_over_the_timed_window(recorded):
    found = _read(recorded, batch=512, launched=0.0)
    seconds = [at for at, _ in found.trace["power_w"]]
    assert seconds[0] < 0.1
    highest = max(value for _, value in found.trace["power_w"])
    assert highest == pytest.approx(found.values["peak_w"], rel=1e-5)


def test_the_recorded_device_refreshes_ten_times_a_second_and_was_read_twenty_times():
    trace = read_trace(RECORDED / TRACE)
    assert trace.refresh_s["gpu0"] == pytest.approx(0.1, rel=0.02)
    times = [at for at, _ in trace.series("gpu0.power_instant_w")]
    assert len(times) / (times[-1] - times[0]) == pytest.approx(20, rel=0.03)
