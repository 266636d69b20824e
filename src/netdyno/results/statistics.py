"""What timed blocks and the figures of several runs come to, and how sure we are of it.

Everything is derived from raw samples and figures on reading; nothing here is stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import comb, floor, sqrt
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from netdyno.results.figure import Estimate, Figure
from netdyno.results.record import Record, Sample

FEWEST = 6  # blocks of which the smallest and largest hold the median with 95 %
RESAMPLES = 2000
SEED = 20260
_SHARES = (0.025, 0.975)  # between them are 95 % of the resamples
_ENDS = sorted({floor((RESAMPLES - 1) * share) + more for share in _SHARES for more in (0, 1)})
EXACT_UP_TO = 1000  # blocks; beyond, the binomial is normal to all digits that matter


class Estimates(Mapping[str, Estimate]):
    """Every figure that some of the measured runs have, in the order of the first that has it.

    Each is estimated when it is first asked for: many readers need one of them, or only a verdict.
    """

    __slots__ = ("_known", "_runs")

    def __init__(self, runs: Sequence[Record]) -> None:
        self._runs = runs
        self._known: dict[str, Estimate | None] = {name: None for run in runs for name in run.figures}

    def __getitem__(self, name: str) -> Estimate:
        found = self._known[name]
        if found is None:
            found = self._known[name] = _estimate(name, [run for run in self._runs if name in run.figures])
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return repr(dict(self))


def quantiles(ordered: Sequence[float] | NDArray[np.float64], shares: Sequence[float]) -> list[float]:
    """Of values in order (at least where the quantiles lie), between neighbours linearly: what numpy gives, to the
    last digit, without the time it takes to prepare for anything else."""
    found = []
    for place in ((len(ordered) - 1) * share for share in shares):
        below = floor(place)
        low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
        part = place - below
        found.append(float(low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)))
    return found


def rate(samples: Sequence[Sample], per_step: float = 1.0) -> float:
    """Items per second at the median block: one page fault should not change a ranking."""
    if not samples:
        raise ValueError("a rate needs at least one sample")
    return per_step / median([sample.seconds / sample.steps for sample in samples])


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
    ordered = _ordered(samples)
    rank = _rank(count)
    return ordered[rank - 1], ordered[count - rank]


def bootstrap(runs: Sequence[Sequence[Sample]], per_step: float) -> tuple[float, float, float]:
    """The mean of the runs' rates at their medians, and its 95 % interval: a bootstrap over runs and, in them, over
    blocks."""
    # Sorted, so that the order in which runs were made cannot change a digit.
    blocks = sorted(_ordered(run) for run in runs)
    medians = np.array([(run[(len(run) - 1) // 2] + run[len(run) // 2]) / 2 for run in blocks])
    means = _bootstrap_speeds(blocks).mean(axis=1)
    low, high = quantiles(np.partition(means, _ENDS), _SHARES)
    speed = float(np.mean(1 / medians))
    # A bootstrap of few, uneven blocks may miss its own middle.
    return per_step * speed, per_step * min(low, speed), per_step * max(high, speed)


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


def _ordered(samples: Sequence[Sample]) -> list[float]:
    """Seconds per step, the shortest first."""
    if not samples:
        raise ValueError("a rate needs at least one sample")
    return sorted([sample.seconds / sample.steps for sample in samples])


@cache
def _rank(count: int) -> int:
    """The largest rank, from 1, whose block is at or under the median with at least 97.5 %."""
    if count > EXACT_UP_TO:
        return floor(count / 2 - 1.959964 * sqrt(count) / 2)
    below, rank = 0, 0
    while (below := below + comb(count, rank)) <= 0.025 * 2**count:
        rank += 1
    return rank


def _bootstrap_speeds(blocks: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Steps per second of resampled runs, one row a resample."""
    speeds = np.empty(RESAMPLES * len(blocks))
    for index, (ordered, places) in enumerate(zip(blocks, _chosen(len(blocks)), strict=True)):
        speeds[places] = 1 / _resampled_medians(np.array(ordered), len(places), index)
    return speeds.reshape(RESAMPLES, len(blocks))


def _resampled_medians(ordered: NDArray[np.float64], count: int, index: int) -> NDArray[np.float64]:
    """Medians of `count` resamples of the sorted blocks of the run at that place."""
    lower, upper = _middles(len(ordered), count, index)
    medians: NDArray[np.float64] = (ordered[lower] + ordered[upper]) / 2
    return medians


@cache
def _chosen(runs: int) -> list[NDArray[np.intp]]:
    """Where each run is chosen, row after row: the same draws for every result, as the seed is the same."""
    chosen = np.random.default_rng(SEED).integers(runs, size=(RESAMPLES, runs))
    return [np.flatnonzero(chosen == index) for index in range(runs)]


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
