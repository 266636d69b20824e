"""Which runs are made, and in which order."""

from collections import Counter
from dataclasses import replace

from netdyno.bench.plan import Renewal, expected_s, make_plan
from netdyno.bench.settings import Settings
from netdyno.results.cell import Cell
from netdyno.results.store import Finished

CELLS = [
    Cell(
        network="lenet", dataset="mnist", framework="null", device="cpu", batch=batch, precision="float32",
        execution="eager", data="synthetic", threads=1,
    )
    for batch in range(1, 9)
]  # fmt: skip
PLAIN = Renewal(again=False, retry=False, bases={cell: {"graph": "d", "seconds": 10.0} for cell in CELLS})
SETTINGS = Settings(runs=3)


def _done(series, number, outcome="measured", **basis):
    return Finished(series=series, number=number, outcome=outcome, basis={"graph": "d", **basis}, took_s=4.0)


def _history(*finished):
    return {CELLS[0].key(): list(finished)}


def _of_first(plan):
    return [(run.series, run.number) for run in plan.runs if run.cell == CELLS[0]]


def test_every_cell_is_run_once_before_any_is_run_twice():
    plan = make_plan(CELLS, SETTINGS, {}, PLAIN)
    assert len(plan.runs) == 24
    for start in range(0, 24, 8):
        assert Counter(run.cell for run in plan.runs[start : start + 8]) == Counter(CELLS)


def test_the_order_is_random_but_the_same_for_the_same_seed():
    first = make_plan(CELLS, SETTINGS, {}, PLAIN)
    assert first == make_plan(CELLS, SETTINGS, {}, PLAIN)
    assert first != make_plan(CELLS, replace(SETTINGS, seed=1), {}, PLAIN)
    assert [run.cell for run in first.runs[:8]] != CELLS


def test_finished_runs_are_not_made_again():
    plan = make_plan(CELLS, SETTINGS, _history(_done(1, 1), _done(1, 3)), PLAIN)
    assert _of_first(plan) == [(1, 2)]
    assert plan.finished == 2


def test_again_starts_a_new_series_only_when_the_newest_is_complete():
    again = replace(PLAIN, again=True)
    complete = [_done(1, number) for number in (1, 2, 3)]
    assert _of_first(make_plan(CELLS, SETTINGS, _history(*complete), again)) == [(2, 1), (2, 2), (2, 3)]
    imported = [_done(3, 1), *complete]  # older than what was measured here
    assert _of_first(make_plan(CELLS, SETTINGS, _history(*imported), PLAIN)) == []
    assert _of_first(make_plan(CELLS, SETTINGS, _history(*imported), again)) == [(4, 1), (4, 2), (4, 3)]
    cut_off = [*complete, _done(2, 1)]
    assert _of_first(make_plan(CELLS, SETTINGS, _history(*cut_off), again)) == [(2, 2), (2, 3)]


def test_retry_starts_a_new_series_of_what_failed_and_leaves_the_rest():
    retry = replace(PLAIN, retry=True)
    failed = [_done(1, 1), _done(1, 2, "crashed"), _done(1, 3)]
    assert _of_first(make_plan(CELLS, SETTINGS, _history(*failed), retry)) == [(2, 1), (2, 2), (2, 3)]
    unsupported = [_done(1, number, "unsupported") for number in (1, 2, 3)]
    assert _of_first(make_plan(CELLS, SETTINGS, _history(*unsupported), retry)) == []


def test_a_series_has_one_graph_and_one_way_of_measuring():
    for basis in ({"graph": "old"}, {"seconds": 1.0}):
        stale = [_done(1, number, **basis) for number in (1, 2)]
        plan = make_plan(CELLS, SETTINGS, _history(*stale), PLAIN)
        assert _of_first(plan) == [(2, 1), (2, 2), (2, 3)]
        assert plan.renewed == dict.fromkeys(basis, 1)


def test_what_an_old_run_does_not_say_is_no_difference():
    plan = make_plan(CELLS, SETTINGS, _history(_done(1, 1), _done(1, 2, framework="2.0")), PLAIN)
    assert _of_first(plan) == [(1, 3)]
    assert plan.renewed == {}


def test_more_runs_continue_the_series():
    plan = make_plan(CELLS, Settings(runs=5), _history(*[_done(1, n) for n in (1, 2, 3)]), PLAIN)
    assert _of_first(plan) == [(1, 4), (1, 5)]


def test_a_cell_seen_before_is_expected_to_take_as_long_again():
    history = _history(_done(1, 1))
    plan = make_plan(CELLS, SETTINGS, history, PLAIN)
    expected = {expected_s(run, SETTINGS, history) for run in plan.runs if run.cell == CELLS[0]}
    assert expected == {4.0}
    assert expected_s(plan.runs[-1], SETTINGS, {}) > 2 * SETTINGS.seconds
