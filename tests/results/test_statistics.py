"""A speed ignores one slow block, and its interval means what it says."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.results.samples import make_record, make_samples

from netdyno.results.record import Sample
from netdyno.results.statistics import Estimates, interval, median_interval, quantiles, rate, runs_to_halve

SECONDS = st.floats(1e-6, 1e3)


def test_throughput_ignores_one_slow_block() -> None:
    assert rate(make_samples([0.1, 0.1, 0.1, 0.1, 9.0]), 32) == pytest.approx(320)


def test_throughput_counts_the_steps_of_a_block() -> None:
    assert rate([Sample(steps=10, seconds=0.5)], 8) == pytest.approx(160)


def test_a_speed_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        rate([], 32)


@pytest.mark.parametrize(
    ("count", "rank"), [(6, 1), (8, 1), (9, 2), (10, 2), (20, 6), (30, 10), (50, 18), (100, 40), (1000, 469)]
)
def test_the_median_interval_has_the_ranks_of_the_tables(count: int, rank: int) -> None:
    low, high = median_interval(make_samples(np.arange(1, count + 1)[::-1])) or (0, 0)
    assert (low, high) == (rank, count + 1 - rank)


def test_the_median_interval_of_very_many_blocks_is_that_of_the_normal_law() -> None:
    low, high = median_interval(make_samples(np.arange(1, 4002))) or (0, 0)
    assert (low, high) == (1938, 2064)


def test_too_few_blocks_have_no_median_interval() -> None:
    assert median_interval(make_samples([1, 2, 3, 4, 5])) is None


def test_the_median_interval_holds_the_median_in_95_of_100_cases() -> None:
    random = np.random.default_rng(1)
    intervals = [median_interval(make_samples(random.lognormal(size=25))) for _ in range(2000)]
    held = sum(i is not None and i[0] <= 1 <= i[1] for i in intervals)
    assert held >= 0.945 * 2000


def test_the_headline_is_the_mean_of_the_runs_medians() -> None:
    runs = [make_record(samples=make_samples([1.0] * 7)), make_record(samples=make_samples([0.5] * 7 + [9.0]))]
    assert Estimates(runs)["throughput"].value == pytest.approx(32 * (1 + 2) / 2)


@given(st.lists(st.floats(1e-3, 1e6), min_size=2, max_size=8), st.randoms())
def test_the_order_of_runs_changes_nothing_and_the_interval_holds_the_mean(values: list[float], random: Any) -> None:
    low, high = interval(values)
    assert 0 <= low <= np.mean(values) * (1 + 1e-9)
    assert high >= np.mean(values) * (1 - 1e-9)
    shuffled = list(values)
    random.shuffle(shuffled)
    assert interval(shuffled) == pytest.approx((low, high), rel=1e-6)


def test_the_interval_is_the_one_of_the_tables() -> None:
    assert interval([-1.0, 0.0, 1.0]) == pytest.approx((-2.4841, 2.4841), abs=1e-4)
    assert interval([7.0, 7.0]) == (7.0, 7.0)


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
@pytest.mark.parametrize(("run_noise", "block_noise"), [(0.01, 0.005), (0.001, 0.0005), (0.003, 0.03), (0.0, 0.02)])
def test_the_interval_holds_the_truth_in_95_of_100_cases(runs: int, run_noise: float, block_noise: float) -> None:
    random, cases = np.random.default_rng(6), 3000
    levels = np.exp(run_noise * random.standard_normal((cases, runs, 1)))
    medians = np.median(levels * np.exp(block_noise * random.standard_normal((cases, runs, 11))), axis=2)
    held = sum(low <= 1 <= high for low, high in map(interval, medians.tolist()))
    assert 0.935 <= held / cases <= 0.965


@pytest.mark.parametrize(("runs", "more"), [(2, 3), (3, 5), (5, 13), (10, 33)])
def test_how_many_runs_would_halve_the_interval(runs: int, more: int) -> None:
    assert runs_to_halve(runs) == more


@given(st.lists(SECONDS, min_size=1, max_size=80), st.lists(st.floats(0, 1), max_size=5))
def test_quantiles_are_those_of_numpy_to_the_last_digit(values: list[float], shares: list[float]) -> None:
    assert quantiles(sorted(values), shares) == np.quantile(values, shares).tolist()


def test_a_figure_is_estimated_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr("netdyno.results.statistics.rate", lambda _, per_step: asked.append(per_step) or 1.0)
    figures = Estimates([make_record(host_peak_bytes=1 << 30)])
    assert {"throughput", "memory"} <= set(figures)
    assert figures["memory"].value == 1 << 30
    assert not asked
    assert figures["throughput"] is figures["throughput"]
    assert asked == [32]
    with pytest.raises(KeyError):
        figures["thruput"]
