"""A result says how fast, of how many runs, and what is wrong with it."""

import json
from typing import Any

import pytest
from tests.results.samples import make_cell, make_record, make_result, make_samples

from netdyno.results.figure import Figure
from netdyno.results.record import Record
from netdyno.results.result import results_of, to_json
from netdyno.results.statistics import interval

GOOD = [0.1] * 10


def runs_with_flags(*flags: tuple[str, ...]) -> list[Record]:
    return [make_record(number=n, flags=these, samples=make_samples(GOOD)) for n, these in enumerate(flags, 1)]


def test_runs_that_agree_are_steady() -> None:
    result = make_result([GOOD, GOOD, GOOD])
    assert result.head.value == pytest.approx(320)
    assert (result.runs, result.outcome, result.verdict, result.reason) == (3, "measured", "steady", "")


@pytest.mark.parametrize(
    ("flags", "verdict"),
    [
        ([("drifting",), (), ()], "drifting (1 of 3)"),
        ([("interval not reached",)] * 3, "interval not reached"),
        ([("drifting",), ("drifting", "throttled"), ()], "drifting (2 of 3), throttled (1 of 3)"),
        ([("drifting", "drifting"), ()], "drifting (1 of 2)"),
        ([()], "one run"),
        ([("drifting",)], "drifting, one run"),
    ],
)
def test_a_verdict_counts_the_runs_it_concerns(flags: list[tuple[str, ...]], verdict: str) -> None:
    assert results_of(runs_with_flags(*flags))[0].verdict == verdict


def test_runs_whose_medians_are_over_5_percent_apart_differ() -> None:
    assert make_result([GOOD, [0.106] * 10]).verdict == "runs differ"
    assert make_result([GOOD, [0.104] * 10]).verdict == "steady"


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"graph_digest": "other"}, "different graphs (2)"),
        ({"worker_hash": "other"}, "different workers (2)"),
        ({"versions": {"alpha": "1.1"}}, "different versions (2)"),
        ({"basis": {"seconds": 1.0}}, "different settings (2)"),
    ],
)
def test_runs_of_different_things_are_never_called_steady(fields: dict[str, Any], verdict: str) -> None:
    same: dict[str, Any] = {"samples": make_samples(GOOD), "versions": {"alpha": "1.0"}, "basis": {"seconds": 10.0}}
    records = [make_record(number=1, **same), make_record(number=2, **same), make_record(number=3, **(same | fields))]
    assert results_of(records)[0].verdict == verdict
    assert results_of(records[:2])[0].verdict == "steady"


def test_too_few_blocks_for_an_interval_are_said() -> None:
    assert make_result([GOOD, [0.1] * 5]).verdict == "too few blocks (1 of 2)"


def test_a_run_that_did_not_measure_is_counted_and_explained() -> None:
    records = [*runs_with_flags((), ()), make_record(number=3, outcome="crashed", reason="signal 11", samples=())]
    result = results_of(records)[0]
    assert (result.runs, result.outcome, result.verdict, result.reason) == (
        2, "measured", "2 of 3 measured", "signal 11",
    )  # fmt: skip


def test_a_cell_that_never_measured_has_the_last_outcome_and_no_speed() -> None:
    records = [
        make_record(number=2, outcome="out of memory", reason="no room", samples=()),
        make_record(number=1, outcome="crashed", reason="signal 11", samples=()),
    ]
    result = results_of(records)[0]
    assert (result.head, result.figures, result.runs) == (None, {}, 0)
    assert (result.outcome, result.verdict, result.reason) == ("out of memory", "not measured", "no room")


def test_the_newest_series_counts_unless_every_one_is_asked_for() -> None:
    records = [make_record(series=s, samples=make_samples([s / 10] * 10)) for s in (2, 1, 3)]
    (newest,) = results_of(records)
    assert (newest.series, newest.head.value) == (3, pytest.approx(32 / 0.3))
    assert [result.series for result in results_of(records, every_series=True)] == [1, 2, 3]


def test_cells_and_machines_are_kept_apart_and_in_order() -> None:
    small, large = make_cell(batch=1), make_cell(batch=64)
    records = [make_record(large), make_record(small, machine="there"), make_record(small)]
    results = results_of(records)
    assert [(r.cell.batch, r.machine) for r in results] == [(1, "here"), (1, "there"), (64, "here")]
    assert results_of([]) == []


def test_json_has_these_keys_in_this_order() -> None:
    keys = (
        "workload network options dataset goal source framework batch precision execution data device threads ranks"
    )
    keys += " nodes strategy synchrony outcome verdict runs headline figures"
    keys += " step_s host_peak_bytes device_peak_bytes readings absent"
    told = to_json(make_result([GOOD, GOOD]))
    assert list(told) == keys.split()
    assert (told["network"], told["options"], told["headline"]) == ("lenet", {}, "throughput")
    assert list(told["figures"]) == ["throughput", "step"]
    for figure in told["figures"].values():
        assert list(figure) == ["value", "low", "high", "unit", "better"]
        assert figure["low"] <= figure["value"] <= figure["high"]


def test_json_has_no_figures_where_nothing_was_measured() -> None:
    result = results_of([make_record(outcome="unsupported", samples=(), reason="no such op")])[0]
    told = json.loads(json.dumps(to_json(result)))
    assert (told["figures"], told["headline"]) == ({}, "throughput")
    assert (told["runs"], told["outcome"]) == (0, "unsupported")


def test_a_figure_that_is_no_rate_has_an_interval_too() -> None:
    runs = [
        make_record(number=n, samples=make_samples(GOOD), readings={"mean_w": watts})
        for n, watts in ((1, 90.0), (2, 110.0))
    ]
    power = results_of(runs)[0].figures["power"]
    assert (power.value, power.unit, power.better) == (100.0, "W", "less")
    assert (power.low, power.high) == interval([90.0, 110.0])
    alone = results_of(runs[:1])[0].figures["power"]
    assert (alone.value, alone.low, alone.high) == (90.0, None, None)


def test_a_rate_comes_from_the_blocks_whatever_the_record_says() -> None:
    figure = Figure("throughput", "images/s", "more", 1e9, 32.0)
    (result,) = results_of([make_record(samples=make_samples(GOOD), figures={"throughput": figure})])
    assert result.head.value == pytest.approx(320)
