"""What timed blocks and the figures of several runs come to, and how sure we are of it.

Everything is derived from raw samples and figures on reading; nothing here is stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from math import comb, exp, floor, log, sqrt
from statistics import fmean, median, stdev

import numpy as np
from numpy.typing import NDArray

from netdyno.results.figure import Estimate, Figure
from netdyno.results.record import Record, Sample
from netdyno.results.student import quantile

FEWEST = 6  # blocks of which the smallest and largest hold the median with 95 %
WIDEST = 200.0  # of a logarithm: what is less certain is not certain at all
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


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of what several runs gave, by Student's t: it knows how little two or three runs
    say of the next. Around positive values it is one of ratios, so that it never reaches below zero."""
    if len(values) < 2:
        raise ValueError("an interval needs at least two values")
    middle, reach = fmean(values), _reach(len(values))
    if min(values) <= 0:
        return middle - reach * stdev(values), middle + reach * stdev(values)
    ratio = exp(min(reach * stdev([log(value) for value in values]), WIDEST))
    return middle / ratio, middle * ratio


def runs_to_halve(runs: int) -> int:
    """How many runs would make the interval of so many half as wide, if the noise stays what it is."""
    half = _reach(runs) / 2
    return next(more for more in count(runs + 1) if _reach(more) <= half)


@cache
def _reach(runs: int) -> float:
    """Half the interval's width, in standard deviations between runs."""
    return quantile(0.975, runs - 1) / sqrt(runs)


def _estimate(name: str, runs: Sequence[Record]) -> Estimate:
    figure = runs[-1].figures[name]
    values = [value_of(run.figures[name], run) for run in runs]
    if len(runs) == 1:  # its blocks cannot show how much the next run would differ
        return Estimate(value=values[0], unit=figure.unit, better=figure.better)
    low, high = interval(values)
    return Estimate(value=fmean(values), low=low, high=high, unit=figure.unit, better=figure.better)


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
