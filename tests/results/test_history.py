"""A step in a cell's speed is found with what changed there; steady noise is left alone."""

from typing import Any

import numpy as np
import pytest
from tests.results.samples import draw_runs, make_cell, make_record, make_samples

from netdyno.results.history.changes import Change
from netdyno.results.history.series import History, histories
from netdyno.results.history.steps import find_steps, smallest_step
from netdyno.results.record import Record

NOISE = 0.003


def certain(logs: "np.ndarray[Any, Any]") -> list[int]:
    return [step.index for step in find_steps(logs.tolist(), [1e-8] * len(logs)) if step.is_certain]


@pytest.mark.parametrize("count", [4, 6, 12, 30])
def test_a_steady_row_has_a_step_in_at_most_1_of_100_cases(count: int) -> None:
    random = np.random.default_rng(count)
    assert sum(bool(find_steps(NOISE * random.standard_normal(count), [1e-8] * count)) for _ in range(500)) <= 5


def test_rare_slips_seldom_look_like_steps() -> None:
    random, found = np.random.default_rng(1), 0
    for _ in range(500):
        slips = np.where(random.random(20) < 0.05, 6, 1)
        found += bool(certain(NOISE * slips * random.standard_normal(20)))
    assert found <= 10


@pytest.mark.parametrize(("count", "at"), [(6, 3), (12, 6), (20, 18), (30, 3)])
def test_a_step_of_5_percent_is_found_where_it_is(count: int, at: int) -> None:
    random, found = np.random.default_rng(2), 0
    for _ in range(100):
        logs = NOISE * random.standard_normal(count)
        logs[at:] -= 0.05
        found += certain(logs) == [at]
    assert found >= 95


def test_what_got_worse_and_was_mended_is_two_steps() -> None:
    random, found = np.random.default_rng(3), 0
    for _ in range(100):
        logs = NOISE * random.standard_normal(24)
        logs[8:16] -= 0.03
        found += certain(logs) == [8, 16]
    assert found >= 95


def test_the_newest_figure_alone_is_not_a_certain_step() -> None:
    logs = [0.0, 0.001, -0.001, 0.0005, 0.0, 0.001, -0.05]
    (step,) = find_steps(logs, [1e-8] * 7)
    assert (step.index, step.figures, step.is_certain) == (6, 1, False)
    (step,) = find_steps([*logs, -0.051], [1e-8] * 8)
    assert (step.index, step.figures, step.is_certain) == (6, 2, True)


def test_a_steps_size_has_an_interval_that_holds_it() -> None:
    random = np.random.default_rng(4)
    logs = NOISE * random.standard_normal(20)
    logs[10:] += np.log(0.9)
    (step,) = find_steps(logs, [1e-8] * 20)
    assert step.low < 0.9 < step.high
    assert step.ratio == pytest.approx(0.9, rel=0.01)
    assert step.p < 1e-6


def test_figures_that_agree_by_luck_do_not_make_a_step_of_their_own_error() -> None:
    logs = [0.0, 0.0, 0.0, 0.002, 0.002, 0.002]
    assert len(find_steps(logs, [1e-8] * 6)) == 1
    assert find_steps(logs, [0.002**2] * 6) == []


def test_the_smallest_step_is_one_that_would_be_found() -> None:
    logs = [NOISE, -NOISE] * 6
    smallest = smallest_step(logs, [1e-8] * 12)
    assert smallest is not None
    for factor, expected in ((1.1, [6]), (0.5, [])):
        stepped = [value + (factor * np.log(smallest) if place >= 6 else 0) for place, value in enumerate(logs)]
        assert [step.index for step in find_steps(stepped, [1e-8] * 12)] == expected
    assert smallest_step([0.0, 0.1], [1e-8] * 2) is None


def series_of(speeds: list[float], **changes: Any) -> list[Record]:
    """A series of three runs at each speed; `changes` are functions of the number of the series."""
    random = np.random.default_rng(8)
    records = []
    for series, speed in enumerate(speeds, 1):
        told = {name: value(series) for name, value in changes.items()}
        runs = draw_runs(random, 3, step_s=1 / speed, run_noise=0.001, block_noise=0.001)
        when = f"2026-11-{series:02d}T10:00:00+00:00"
        records += [
            make_record(series=series, number=n, started_at=when, samples=make_samples(run), **told)
            for n, run in enumerate(runs, 1)
        ]
    return records


def history_of(records: list[Record]) -> History:
    (found,) = histories(records)
    return found


def test_a_step_names_exactly_what_was_recorded_differently() -> None:
    history = history_of(
        series_of(
            [100, 100.1, 99.9, 100, 90, 90.1, 89.9],
            versions=lambda s: {"numpy": "2.1" if s < 5 else "2.2", "python": "3.12"},
            environment=lambda s: {"load": s / 7, "gpus": [{"driver": "580" if s < 5 else "590", "ecc": True}]},
            settings=lambda s: {"layout": "nchw", "looked_at": {"eager": s / 1000}},
            worker_hash=lambda s: "aa" if s < 5 else "bb",
            flags=lambda s: () if s < 5 else (f"throttled ({s} % of the window)",),
        )
    )
    (turn,) = history.turns
    assert turn.result.series == 5
    assert turn.step.low < 0.9 < turn.step.high
    assert turn.changes == (
        Change(field="versions.numpy", before="2.1", after="2.2"),
        Change(field="environment.gpus[0].driver", before="580", after="590"),
        Change(field="worker_hash", before="aa", after="bb"),
        Change(field="flags", before="–", after="throttled"),
    )


def test_a_step_at_which_nothing_changed_has_no_changes() -> None:
    (turn,) = history_of(series_of([100, 100.1, 99.9, 100, 90, 90.1, 89.9])).turns
    assert turn.changes == ()


def test_values_that_differ_within_a_series_stand_side_by_side() -> None:
    records = series_of([100, 100.1, 99.9, 90, 90.1, 89.9])
    mixed = [
        make_record(**{**_fields(record), "worker_hash": "bb" if record.number == 3 else "aa"})
        if record.series > 3
        else record
        for record in records
    ]
    (turn,) = history_of(mixed).turns
    assert turn.changes == (Change(field="worker_hash", before="–", after="aa / bb"),)


def _fields(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_series_cannot_tell(count: int) -> None:
    history = history_of(series_of([100, 50][:count]))
    assert not history.can_tell
    assert (history.turns, history.smallest) == ((), None)


def test_series_without_a_measurement_are_kept_and_not_judged() -> None:
    records = series_of([100, 100.1, 99.9])
    failed = make_record(series=4, outcome="failed", samples=(), started_at="2026-11-09T10:00:00+00:00")
    history = history_of([*records, failed])
    assert (len(history.results), len(history.measured), history.turns) == (4, 3, ())


def test_each_cell_on_each_machine_has_a_history_in_order_of_time() -> None:
    late = make_record(series=1, started_at="2026-11-20T10:00:00+00:00")
    early = make_record(series=2, started_at="2026-11-10T10:00:00+00:00")
    there, other = make_record(machine="there"), make_record(make_cell(batch=64))
    found = histories([late, early, there, other])
    assert [(h.cell.batch, h.machine, [r.series for r in h.results]) for h in found] == [
        (32, "here", [2, 1]), (32, "there", [1]), (64, "here", [1]),
    ]  # fmt: skip
