"""A speed ignores one slow block, and its interval means what it says."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.results.samples import draw_runs, make_samples

from netdyno.results.record import Sample
from netdyno.results.statistics import _bootstrap_speeds, _ends, _median, bootstrap, median_interval, quantile, rate

SECONDS = st.floats(1e-6, 1e3)
RUNS = st.lists(st.lists(SECONDS, min_size=1, max_size=12), min_size=1, max_size=4)


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
    runs = [make_samples([1.0] * 7), make_samples([0.5] * 7 + [9.0])]
    assert bootstrap(runs, 10)[0] == pytest.approx((10 + 20) / 2)


@given(RUNS)
def test_the_ends_are_numpys_quantiles_digit_by_digit(runs: list[list[float]]) -> None:
    means = _bootstrap_speeds([np.sort(run) for run in runs]).mean(axis=0)
    assert _ends(means) == tuple(np.quantile(means, (0.025, 0.975)))
    assert [_median(np.sort(run)) for run in runs] == [np.median(run) for run in runs]
    assert [quantile(sorted(run), 0.95) for run in runs] == [np.percentile(run, 95) for run in runs]


@given(RUNS, st.randoms())
def test_the_order_of_runs_and_blocks_changes_nothing(runs: list[list[float]], random: np.random.Generator) -> None:
    before = bootstrap([make_samples(run) for run in runs], 8)
    shuffled = [list(run) for run in runs]
    for run in shuffled:
        random.shuffle(run)
    random.shuffle(shuffled)
    assert bootstrap([make_samples(run) for run in shuffled], 8) == before


@given(RUNS, st.integers(1, 4096))
def test_speeds_scale_with_the_batch(runs: list[list[float]], batch: int) -> None:
    samples = [make_samples(run) for run in runs]
    one, many = bootstrap(samples, 1), bootstrap(samples, batch)
    assert many == pytest.approx([batch * value for value in one])


@given(RUNS)
def test_the_interval_holds_the_headline_and_stays_among_the_blocks(runs: list[list[float]]) -> None:
    value, low, high = bootstrap([make_samples(run) for run in runs], 1)
    blocks = [1 / seconds for run in runs for seconds in run]
    assert min(blocks) * (1 - 1e-9) <= low <= value <= high
    assert high <= max(blocks) * (1 + 1e-9)


def test_one_run_has_the_interval_of_its_blocks() -> None:
    run = make_samples(np.random.default_rng(2).normal(1, 0.01, 101))
    (_, low, high), interval = bootstrap([run], 1), median_interval(run)
    assert interval is not None
    assert (low, high) == pytest.approx((1 / interval[1], 1 / interval[0]), rel=2e-3)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 25])
def test_the_shortcut_draws_the_medians_that_resampling_draws(size: int) -> None:
    from netdyno.results.statistics import _resampled_medians

    random = np.random.default_rng(3)
    blocks = np.sort(random.lognormal(size=size))
    quick = _resampled_medians(blocks, 40_000, 0)
    plain = np.median(random.choice(blocks, (40_000, size)), axis=1)
    levels = np.linspace(0.05, 0.95, 19)
    shares = [[np.mean(drawn <= level) for level in np.quantile(plain, levels)] for drawn in (quick, plain)]
    assert shares[0] == pytest.approx(shares[1], abs=0.015)


def test_runs_that_differ_widen_the_interval() -> None:
    random = np.random.default_rng(4)
    alike = draw_runs(random, 5, run_noise=0, block_noise=0.01)
    apart = draw_runs(random, 5, run_noise=0.05, block_noise=0.01)
    widths = [(high - low) / value for value, low, high in (_summary(alike), _summary(apart))]
    assert widths[1] > 3 * widths[0]


def test_a_summary_is_quick_enough_to_make_on_reading() -> None:
    """Generous, because a shared machine may be busy: alone it takes a few milliseconds."""
    runs = [make_samples(run) for run in np.random.default_rng(5).normal(1, 0.01, (3, 200))]
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        bootstrap(runs, 32)
        taken.append(time.perf_counter() - started)
    assert min(taken) < 0.05


def _summary(runs: list[list[float]]):  # type: ignore[no-untyped-def]
    return bootstrap([make_samples(run) for run in runs], 32)
