"""What timed blocks and the figures of several runs come to, and how sure we are of it.

Everything is derived from raw samples and figures on reading; nothing here is stored.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from math import comb, floor, sqrt
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from netdyno.results.figure import Estimate, Figure
from netdyno.results.record import Record, Sample

FEWEST = 6  # blocks of which the smallest and largest hold the median with 95 %
RESAMPLES = 2000
TAILS = (0.025, 0.975)  # where a 95 % interval ends
SEED = 20260
EXACT_UP_TO = 1000  # blocks; beyond, the binomial is normal to all digits that matter


def estimates(runs: Sequence[Record]) -> dict[str, Estimate]:
    """Every figure that some of the measured runs have, in the order of the first that has it."""
    names = dict.fromkeys(name for run in runs for name in run.figures)
    return {name: _estimate(name, [run for run in runs if name in run.figures]) for name in names}


def rate(samples: Sequence[Sample], per_step: float = 1.0) -> float:
    """Items per second at the median block: one page fault should not change a ranking."""
    if not samples:
        raise ValueError("a rate needs at least one sample")
    return per_step / _median(sorted(sample.seconds / sample.steps for sample in samples))


def value_of(figure: Figure, run: Record) -> float:
    """A run's figure: a rate from its blocks, whatever the record says it is."""
    return figure.value if figure.per_step is None else rate(run.samples, figure.per_step)


def median_interval(samples: Sequence[Sample]) -> tuple[float, float] | None:
    """The two blocks, in seconds per step, that hold the median with at least 95 %; None for too few blocks.

    Order statistics assume nothing about the shape of the noise.
    """
    count = len(samples)
    if count < FEWEST:
        return None
    ordered = np.sort(_seconds_per_step(samples))
    rank = _rank(count)
    return float(ordered[rank - 1]), float(ordered[count - rank])


def bootstrap(runs: Sequence[Sequence[Sample]], per_step: float) -> tuple[float, float, float]:
    """The mean of the runs' rates at their medians, and its 95 % interval: a bootstrap over runs and, in them, over
    blocks."""
    # Sorted, so that the order in which runs were made cannot change a digit.
    blocks = sorted((np.sort(_seconds_per_step(run)) for run in runs), key=lambda run: run.tolist())
    speed = float(np.mean([1 / _median(run) for run in blocks]))
    low, high = _ends(_bootstrap_speeds(blocks).mean(axis=0))
    # A bootstrap of few, uneven blocks may miss its own middle.
    low, high = min(low, speed), max(high, speed)
    return per_step * speed, per_step * low, per_step * high


def _estimate(name: str, runs: Sequence[Record]) -> Estimate:
    figure = runs[-1].figures[name]
    if figure.per_step is not None:
        value, low, high = bootstrap([run.samples for run in runs], figure.per_step)
    else:
        values = [run.figures[name].value for run in runs]
        value, low, high = fmean(values), min(values), max(values)
    if len(runs) == 1:  # its blocks cannot show how much the next run would differ
        return Estimate(value=value, unit=figure.unit, better=figure.better)
    return Estimate(value=value, low=low, high=high, unit=figure.unit, better=figure.better)


def quantile(ordered: Sequence[float] | NDArray[np.float64], share: float) -> float:
    """NumPy's of values that are sorted already, digit for digit and without its overhead: a report takes a hundred
    thousand."""
    place = share * (len(ordered) - 1)
    first = floor(place)
    below, above, part = float(ordered[first]), float(ordered[min(first + 1, len(ordered) - 1)]), place - first
    return above - (above - below) * (1 - part) if part >= 0.5 else below + (above - below) * part


def _median(ordered: Sequence[float] | NDArray[np.float64]) -> float:
    count = len(ordered)
    return float(ordered[(count - 1) // 2] + ordered[count // 2]) / 2


def _ends(means: NDArray[np.float64]) -> tuple[float, float]:
    """The quantiles at 2.5 and 97.5 %; only what is around them needs its place."""
    places = [floor(share * (len(means) - 1)) + more for share in TAILS for more in (0, 1)]
    ordered = np.partition(means, places)
    return quantile(ordered, TAILS[0]), quantile(ordered, TAILS[1])


def _seconds_per_step(samples: Sequence[Sample]) -> NDArray[np.float64]:
    if not samples:
        raise ValueError("a rate needs at least one sample")
    return np.array([sample.seconds / sample.steps for sample in samples])


@cache
def _rank(count: int) -> int:
    """The largest rank, from 1, whose block is at or under the median with at least 97.5 %."""
    if count > EXACT_UP_TO:
        return floor(count / 2 - 1.959964 * sqrt(count) / 2)
    below, rank = 0, 0
    while (below := below + comb(count, rank)) <= 0.025 * 2**count:
        rank += 1
    return rank


def _bootstrap_speeds(blocks: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Steps per second of resampled runs, one column a resample."""
    counts, order = _chosen(len(blocks))
    medians = [_resampled_medians(run, counts[index], index) for index, run in enumerate(blocks)]
    speeds: NDArray[np.float64] = (1 / np.concatenate(medians))[order]
    return speeds


def _resampled_medians(ordered: NDArray[np.float64], count: int, index: int) -> NDArray[np.float64]:
    """Medians of `count` resamples of the sorted blocks of the run at that place."""
    lower, upper = _middles(len(ordered), count, index)
    medians: NDArray[np.float64] = (ordered[lower] + ordered[upper]) / 2
    return medians


@cache
def _chosen(runs: int) -> tuple[list[int], NDArray[np.intp]]:
    """How often each run is chosen, and where its resamples go: the same draws for every result, as the seed is."""
    chosen = np.random.default_rng(SEED).integers(runs, size=(RESAMPLES, runs))
    counts = [int(np.count_nonzero(chosen == index)) for index in range(runs)]
    order = np.empty(chosen.shape, dtype=np.intp)
    for index, start in enumerate(np.cumsum([0, *counts[:-1]])):
        order[chosen == index] = start + np.arange(counts[index])
    return counts, np.ascontiguousarray(order.T)


@lru_cache(maxsize=1024)
def _middles(size: int, count: int, index: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of the two middle blocks (or the one, twice) in `count` resamples of so many sorted blocks.

    The rank a resample's median falls on is a uniform order statistic, which is beta distributed: so it
    is drawn directly instead of drawing every block, exactly and hundreds of times faster. Drawn once for each size.
    """
    random = np.random.default_rng((SEED, size, count, index))
    middle = (size + 1) // 2
    lower = random.beta(middle, size - middle + 1, count)
    upper = lower if size % 2 else lower + (1 - lower) * random.beta(1, size - middle, count)
    low, high = (np.minimum((quantiles * size).astype(np.intp), size - 1) for quantiles in (lower, upper))
    return low, high
