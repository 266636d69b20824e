"""What a run's events and ending amount to."""

import json

import pytest
from tests.results.samples import make_cell

from netdyno.runtime.task import finished
from netdyno.runtime.watch import Ending
from netdyno.workloads.train import WORKLOAD, judge_measurement
from netdyno.workloads.workload import RunFacts

CALM = Ending(exit_codes=(0,), foreign_share=0.0, stolen_share=0.0)
FACTS = RunFacts(
    cell=make_cell(),
    series=1,
    number=1,
    machine="m",
    target=0.005,
    graph_digest="g",
    worker_hash="w",
)


def _run(tmp_path, samples, steady=True, first=2.0, last=1.0):
    events = [
        {"event": "hello", "protocol": 2, "versions": {"lib": "1"}, "python": "3.11"},
        {"event": "built", "seconds": 0.1, "weights": "abc", "settings": {"layout": "nchw"}},
        {"event": "first_step", "seconds": 3.0},
        {"event": "loss", "when": "first", "losses": {"train": first}},
        {"event": "warmup", "steady": steady, "blocks": [[1, 0.2], [5, 0.5]]},
        *[{"event": "sample", "steps": 10, "seconds": seconds} for seconds in samples],
        {"event": "loss", "when": "last", "losses": {"train": last}},
        {"event": "memory", "host_peak_bytes": 10**8, "device_peak_bytes": None},
        {"event": "done"},
    ]
    (tmp_path / "rank0").mkdir(exist_ok=True)
    lines = (json.dumps({"at": place, **event}) + "\n" for place, event in enumerate(events))
    (tmp_path / "rank0" / "events.jsonl").write_text("".join(lines))
    return tmp_path


def _record(folder, ending=CALM):
    return WORKLOAD.record(FACTS, finished(folder, ending), "later")


def _flags(folder, ending=CALM):
    record = _record(folder, ending)
    assert record.outcome == "measured", record.reason
    return record.flags


def test_a_calm_run_has_no_flags_and_all_its_facts(tmp_path):
    record = _record(_run(tmp_path, [1.0] * 12))
    assert record.flags == ()
    assert record.first_step_s == 3.0
    assert record.versions == {"lib": "1", "python": "3.11"}
    assert len(record.samples) == 12
    assert [sample.steps for sample in record.warmup] == [1, 5]


def test_what_a_pipeline_notes_is_kept_beside_what_the_adapter_chose(tmp_path):
    events = _run(tmp_path, [1.0] * 12) / "rank0" / "events.jsonl"
    notes = {"order": "as it lies in the database", "threads": 1}
    phases = json.dumps(
        {"event": "phases", "at": 9, "compute_s": 1, "load_s": 1, "feed_s": 1, "loader": {}, "notes": notes}
    )
    done = events.read_text().splitlines(keepends=True)
    events.write_text("".join([*done[:-1], phases + "\n", done[-1]]))
    assert _record(tmp_path).settings == {"layout": "nchw", "pipeline": notes}


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"samples": [1.0, 1.3] * 10}, "interval not reached"),
        ({"samples": [1.0] * 3}, "interval not reached"),
        ({"samples": [1.0] * 10 + [1.1] * 10}, "drifting"),
        ({"samples": [1.0] * 12, "steady": False}, "warm-up cut short"),
        ({"samples": [1.0] * 12, "last": 2.0}, "loss does not move"),
    ],
)
def test_what_is_weak_is_flagged(tmp_path, changes, flag):
    assert flag in _flags(_run(tmp_path, **changes))


def test_disturbances_from_outside_are_flagged(tmp_path):
    folder = _run(tmp_path, [1.0] * 12)
    busy = Ending(exit_codes=(0,), foreign_share=0.3, stolen_share=0.1)
    assert _flags(folder, busy) == ("foreign load", "stolen time")
    unknown = Ending(exit_codes=(0,))
    assert _flags(folder, unknown) == ()


@pytest.mark.parametrize("which", ["first", "last"])
def test_a_loss_that_is_not_finite_fails_the_run(tmp_path, which):
    record = _record(_run(tmp_path, [1.0] * 12, **{which: None}))
    assert record.outcome == "failed"
    assert "not a number" in record.reason


def test_a_workload_that_does_not_train_needs_no_loss(tmp_path):
    folder = _run(tmp_path, [1.0] * 12, first=None, last=None)
    judged = judge_measurement(finished(folder, CALM), 0.005, trains=False)
    assert (judged.outcome, judged.flags) == ("measured", ())


def test_a_kill_by_the_kernel_for_memory_is_out_of_memory(tmp_path):
    killed = Ending(exit_codes=(-9,), out_of_memory_kills=1)
    assert _record(tmp_path, killed).outcome == "out of memory"
    other = Ending(exit_codes=(-9,))
    assert _record(tmp_path, other).outcome == "crashed"


def test_nothing_said_before_the_deadline_is_timed_out(tmp_path):
    late = Ending(exit_codes=(-15,), timed_out=True)
    assert _record(tmp_path, late).outcome == "timed out"
