"""What timed blocks add up to: a speed, and how sure we are of it.

Everything is derived from raw samples on reading; nothing here is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb, floor, sqrt
from statistics import median

import numpy as np
from numpy.typing import NDArray

from netdyno.results.record import Sample

FEWEST = 6  # blocks of which the smallest and largest hold the median with 95 %
RESAMPLES = 2000
SEED = 20260
EXACT_UP_TO = 1000  # blocks; beyond, the binomial is normal to all digits that matter


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A speed with its 95 % interval."""

    images_per_s: float
    low: float
    high: float


def images_per_s(samples: Sequence[Sample], batch: int) -> float:
    """Speed at the median block: one page fault should not change a ranking."""
    if not samples:
        raise ValueError("a speed needs at least one sample")
    return batch / median(sample.seconds_per_step for sample in samples)


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


def summarise(runs: Sequence[Sequence[Sample]], batch: int) -> Summary:
    """The mean of the runs' medians; the interval from a bootstrap over runs and, in them, over blocks."""
    # Sorted, so that the order in which runs were made cannot change a digit.
    blocks = sorted((np.sort(_seconds_per_step(run)) for run in runs), key=lambda run: run.tolist())
    medians = np.array([np.median(run) for run in blocks])
    means = _bootstrap_speeds(blocks).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    speed = float(np.mean(1 / medians))
    # A bootstrap of few, uneven blocks may miss its own middle.
    low, high = min(float(low), speed), max(float(high), speed)
    return Summary(images_per_s=batch * speed, low=batch * low, high=batch * high)


def _seconds_per_step(samples: Sequence[Sample]) -> NDArray[np.float64]:
    if not samples:
        raise ValueError("a speed needs at least one sample")
    return np.array([sample.seconds_per_step for sample in samples])


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
    """Steps per second of resampled runs, one row a resample."""
    speeds = np.empty((RESAMPLES, len(blocks)))
    for index, (ordered, places) in enumerate(zip(blocks, _chosen(len(blocks)), strict=True)):
        speeds[places] = 1 / _resampled_medians(ordered, len(places[0]), index)
    return speeds


def _resampled_medians(ordered: NDArray[np.float64], count: int, index: int) -> NDArray[np.float64]:
    """Medians of `count` resamples of the sorted blocks of the run at that place."""
    lower, upper = _middles(len(ordered), count, index)
    medians: NDArray[np.float64] = (ordered[lower] + ordered[upper]) / 2
    return medians


@cache
def _chosen(runs: int) -> list[tuple[NDArray[np.intp], ...]]:
    """Where each run is chosen: the same draws for every result, as the seed is the same."""
    chosen = np.random.default_rng(SEED).integers(runs, size=(RESAMPLES, runs))
    return [np.nonzero(chosen == index) for index in range(runs)]


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
