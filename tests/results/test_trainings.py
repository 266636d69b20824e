"""Trainings to a goal over several seeds: what they come to, that a store keeps them, and how one is repeated."""

import pytest
from msgspec.structs import replace
from tests.results.samples import make_cell, make_training

from netdyno.report.terminal.trainings.learning import cost_of
from netdyno.results.figure import Estimate
from netdyno.results.record import SHORT
from netdyno.results.result import results_of
from netdyno.results.statistics import interval
from netdyno.results.store import open_store


def numbers(estimate):
    return estimate.value, estimate.low, estimate.high


def test_figures_are_means_over_seeds_with_their_interval():
    (result,) = results_of([make_training(1, 0.98), make_training(2, 0.96), make_training(3, 0.97)])
    assert numbers(result.figures["accuracy"]) == pytest.approx((0.97, *interval([0.98, 0.96, 0.97])))
    assert numbers(result.figures["train_time"]) == pytest.approx((4.0, *interval([2.0, 4.0, 6.0])))
    assert numbers(result.figures["energy"]) == pytest.approx((20.0, *interval([10.0, 20.0, 30.0])))
    assert numbers(cost_of(result, price_per_hour=3600.0)) == pytest.approx((8.0, *interval([4.0, 8.0, 12.0])))
    assert (result.headline, result.verdict) == ("accuracy", "steady")


def test_a_seed_that_failed_counts_neither_as_reached_nor_in_a_mean():
    failed = make_training(2, outcome="failed", reason="it broke", curve=(), figures={}, readings={})
    short = make_training(3, 0.5, outcome=SHORT)
    (result,) = results_of([make_training(1, 0.9), failed, short])
    assert (result.reached, result.runs, result.outcome) == (1, 2, "measured")
    assert numbers(result.figures["accuracy"]) == pytest.approx((0.7, *interval([0.5, 0.9])))
    assert [run.outcome for run in result.records] == ["measured", "failed", SHORT]
    (missed,) = results_of([short])
    assert (missed.outcome, missed.head.value) == (SHORT, 0.5)


def test_nothing_is_said_of_what_nobody_finished():
    (result,) = results_of([make_training(1, outcome="crashed", curve=(), figures={})])
    assert result.figures == {}
    assert cost_of(result, 1.0) is None


def test_goals_sources_and_machines_are_kept_apart():
    cell = make_training().cell
    others = [make_training(cell=replace(cell, goal="epochs=2")), make_training(cell=replace(cell, source="shapes"))]
    assert len(results_of([make_training(), *others, make_training(machine="n")])) == 4


def test_a_store_gives_back_what_it_was_given(location):
    run = make_training(1, absent={"mean_w": "no GPU"}, settings={"layout": "nchw"}, versions={"torch": "2"})
    with open_store(location) as store:
        store.add(run)
        assert store.records({"workload": "learn"}) == [run]
        assert store.records({"workload": "train"}) == []


def test_a_repeated_seed_takes_the_finished_ones_along(location):
    failed = make_training(2, outcome="failed", curve=(), figures={}, readings={})
    with open_store(location) as store:
        for run in (make_training(1), failed, make_training(3)):
            store.add(run)
        series = store.leave_behind([failed])
        store.add(make_training(2, id="repeated", series=series, started_at="2026-02-01T00:00:00.000+00:00"))
        (result,) = results_of(store.records())
        assert [run.id for run in result.records] == ["training-1", "repeated", "training-3"]
        assert {run.id: run.series for run in store.records()}["training-2"] == 1


def test_an_estimate_of_one_seed_has_no_interval():
    (result,) = results_of([make_training(1, 0.9)])
    assert result.head == Estimate(value=0.9, unit="", better="more")
    assert make_cell().workload == "train"
