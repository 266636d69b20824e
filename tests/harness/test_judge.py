"""What a run's events and ending amount to."""

import json

import pytest

from netdyno.harness.judge import judge
from netdyno.harness.watch import Ending

CALM = Ending(exit_code=0, timed_out=False, out_of_memory_kills=0, foreign_share=0.0, stolen_share=0.0)


def _story(tmp_path, samples, steady=True, first=2.0, last=1.0):
    events = [
        {"event": "hello", "protocol": 1, "versions": {"lib": "1"}, "python": "3.11"},
        {"event": "built", "seconds": 0.1, "weights": "abc", "settings": {"layout": "nchw"}},
        {"event": "first_step", "seconds": 3.0},
        {"event": "loss", "when": "first", "losses": {"train": first}},
        {"event": "warmup", "steady": steady, "blocks": [[1, 0.2], [5, 0.5]]},
        *[{"event": "sample", "steps": 10, "seconds": seconds} for seconds in samples],
        {"event": "loss", "when": "last", "losses": {"train": last}},
        {"event": "memory", "host_peak_bytes": 10**8, "device_peak_bytes": None},
        {"event": "done"},
    ]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return tmp_path


def _flags(folder, ending=CALM):
    verdict = judge(folder, ending, 0.005)
    assert verdict.outcome == "measured", verdict.reason
    return verdict.fields["flags"]


def test_a_calm_run_has_no_flags_and_all_its_facts(tmp_path):
    verdict = judge(_story(tmp_path, [1.0] * 12), CALM, 0.005)
    assert verdict.fields["flags"] == ()
    assert verdict.fields["first_step_s"] == 3.0
    assert verdict.fields["versions"] == {"lib": "1", "python": "3.11"}
    assert len(verdict.fields["samples"]) == 12
    assert [sample.steps for sample in verdict.fields["warmup"]] == [1, 5]


def test_what_a_pipeline_notes_is_kept_beside_what_the_adapter_chose(tmp_path):
    events = _story(tmp_path, [1.0] * 12) / "events.jsonl"
    notes = {"order": "as it lies in the database", "threads": 1}
    phases = json.dumps({"event": "phases", "compute_s": 1, "load_s": 1, "feed_s": 1, "loader": {}, "notes": notes})
    done = events.read_text().splitlines(keepends=True)
    events.write_text("".join([*done[:-1], phases + "\n", done[-1]]))
    assert judge(tmp_path, CALM, 0.005).fields["settings"] == {"layout": "nchw", "pipeline": notes}


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
    assert flag in _flags(_story(tmp_path, **changes))


def test_disturbances_from_outside_are_flagged(tmp_path):
    folder = _story(tmp_path, [1.0] * 12)
    busy = Ending(exit_code=0, timed_out=False, out_of_memory_kills=0, foreign_share=0.3, stolen_share=0.1)
    assert _flags(folder, busy) == ("foreign load", "stolen time")
    unknown = Ending(exit_code=0, timed_out=False, out_of_memory_kills=0, foreign_share=None, stolen_share=None)
    assert _flags(folder, unknown) == ()


@pytest.mark.parametrize("which", ["first", "last"])
def test_a_loss_that_is_not_finite_fails_the_run(tmp_path, which):
    verdict = judge(_story(tmp_path, [1.0] * 12, **{which: None}), CALM, 0.005)
    assert verdict.outcome == "failed"
    assert "not a number" in verdict.reason


def test_a_kill_by_the_kernel_for_memory_is_out_of_memory(tmp_path):
    killed = Ending(exit_code=-9, timed_out=False, out_of_memory_kills=1, foreign_share=None, stolen_share=None)
    assert judge(tmp_path, killed, 0.005).outcome == "out of memory"
    other = Ending(exit_code=-9, timed_out=False, out_of_memory_kills=0, foreign_share=None, stolen_share=None)
    assert judge(tmp_path, other, 0.005).outcome == "crashed"


def test_nothing_said_before_the_deadline_is_timed_out(tmp_path):
    late = Ending(exit_code=-15, timed_out=True, out_of_memory_kills=0, foreign_share=None, stolen_share=None)
    assert judge(tmp_path, late, 0.005).outcome == "timed out"
