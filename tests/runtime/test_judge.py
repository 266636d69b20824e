"""What became of a group of ranks: one outcome, one line of reason, and the log that has the rest."""

import json

import pytest

from netdyno.runtime.judge import tail
from netdyno.runtime.task import finished
from netdyno.runtime.watch import Ending

HELLO = {"event": "hello", "at": 0, "protocol": 2, "versions": {}}
DONE = {"event": "done", "at": 1}
STACK = "MXNetError: [12:00:00] src/storage.cc:154: Check failed\nStack trace:\n  [bt] (0) libmxnet.so(+0x1)\n"


def _finished(tmp_path, *ranks, **ending):
    """A run folder whose ranks have these events, and how it ended."""
    folder = tmp_path / "runs" / "one"
    for rank, events in enumerate(ranks):
        (folder / f"rank{rank}").mkdir(parents=True)
        (folder / f"rank{rank}" / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return finished(folder, Ending(exit_codes=(0,) * len(ranks), **ending))


def test_a_group_is_done_when_every_rank_is(tmp_path):
    assert _finished(tmp_path, [HELLO, DONE], [HELLO, DONE]).verdict.outcome == "done"


@pytest.mark.parametrize("failed", [None, 1])
def test_the_rank_that_failed_is_named_with_its_reason(tmp_path, failed):
    word = {"event": "failed", "at": 1, "reason": "no luck"}
    verdict = _finished(tmp_path, [HELLO, DONE], [HELLO, word], [HELLO, DONE], failed=failed).verdict
    assert (verdict.outcome, verdict.reason) == ("failed", "rank 1: no luck")


def test_the_rank_that_ended_the_group_counts_not_those_that_ended_because_of_it(tmp_path):
    word = {"event": "out_of_memory", "at": 1, "reason": "wanted 12 GiB"}
    verdict = _finished(tmp_path, [HELLO], [HELLO], [HELLO, word], failed=2).verdict
    assert (verdict.outcome, verdict.reason) == ("out of memory", "rank 2: wanted 12 GiB")


def test_every_rank_that_is_late_is_named(tmp_path):
    verdict = _finished(tmp_path, [HELLO], [HELLO, DONE], [HELLO], timed_out=True).verdict
    assert (verdict.outcome, verdict.reason) == ("timed out", "ranks 0, 2: no last word before the deadline")


def test_one_rank_needs_no_name(tmp_path):
    assert _finished(tmp_path, [HELLO], timed_out=True).verdict.reason == "no last word before the deadline"


def test_a_lie_of_one_rank_fails_the_group(tmp_path):
    verdict = _finished(tmp_path, [HELLO, DONE], [HELLO, DONE, DONE]).verdict
    assert (verdict.outcome, verdict.reason) == (
        "failed",
        "rank 1: the worker broke its protocol: it said 2 last words",
    )


def test_a_stack_trace_stays_in_the_log_whose_path_is_named(tmp_path):
    found = _finished(tmp_path, [HELLO, {"event": "failed", "at": 1, "reason": STACK}])
    assert found.reason == (
        "MXNetError: [12:00:00] src/storage.cc:154: Check failed (more in runs/one/rank0/stderr.log)"
    )
    assert found.verdict.said == STACK


def test_a_reason_of_one_line_needs_no_log(tmp_path):
    assert _finished(tmp_path, [HELLO, {"event": "failed", "at": 1, "reason": "no luck"}]).reason == "no luck"


def test_last_words_are_not_those_of_a_stack(tmp_path):
    log = tmp_path / "stderr.log"
    log.write_text("reading\nCheck failed: the image is cut\n\nStack trace:\n  [bt] (0) libx.so(+0x1)\n*** Aborted\n")
    assert tail(log) == "reading | Check failed: the image is cut"
