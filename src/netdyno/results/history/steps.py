"""Where a row of figures steps to another level: found so that steady noise rarely looks like a step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from netdyno.results.student import quantile, upper_tail

FALSE_STEPS = 0.005  # of rows without a step; 1 % is promised, half of it is kept for noise that is not normal
LEVEL = 2  # figures at least: a single one may be a slip
FEWEST = LEVEL + 1  # figures of a row; without two of a level there is no noise to judge by

Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """From figure `index` on the level is another one, by a ratio with its 99.5 % interval."""

    index: int
    ratio: float
    low: float
    high: float
    p: float
    figures: int  # how many the new level rests on

    @property
    def is_certain(self) -> bool:
        """Not so for the newest figure alone: noise has rare slips, and the next figure will tell."""
        return self.figures >= LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """Part of a row, from `start` up to `end`, and how much of the row's scatter its own level explains."""

    start: int
    end: int
    explained: float = -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """Figures with their places in the whole row."""

    index: NDArray[np.int64]
    logs: Figures
    variances: Figures

    @property
    def count(self) -> int:
        return len(self.logs)

    def part(self, first: int, last: int) -> "_Row":
        return _Row(index=self.index[first:last], logs=self.logs[first:last], variances=self.variances[first:last])

    def without(self, place: int) -> "_Row":
        rest = np.arange(self.count) != place
        return _Row(index=self.index[rest], logs=self.logs[rest], variances=self.variances[rest])


def find_steps(logs: Sequence[float], variances: Sequence[float]) -> list[Step]:
    """Steps in a row of logarithms, each of which has a variance of its own that noise cannot be under.

    The stretch whose level is furthest from that of the rest is found, by Student's t with the spread around both
    levels; then its parts are searched in turn, sharing the level of error. So all steps of a row together are
    false in at most 1 % of rows. A stretch may end inside the row: what got worse and was mended is two steps. A
    single figure that makes a stretch look like a level is set aside.
    """
    row = _Row(index=np.arange(len(logs)), logs=np.array(logs), variances=np.array(variances))
    return _measured_steps(row, dict(_search(row, FALSE_STEPS)))


def smallest_step(logs: Sequence[float], variances: Sequence[float]) -> float | None:
    """The ratio of a step in the middle of a steady row that would just be found; None for too few figures."""
    count = len(logs)
    if count < FEWEST:
        return None
    variance = max(float(np.var(logs, ddof=1)), float(np.mean(variances)))
    left = count // 2
    error = sqrt(variance * (1 / left + 1 / (count - left)))
    return exp(quantile(1 - FALSE_STEPS / 2 / _places(count)[0], count - 2) * error)


def _search(row: _Row, level: float) -> list[tuple[int, float]]:
    """The indices at which a level begins, with their p."""
    if row.count < FEWEST:
        return []
    p, best = _best_stretch(row)
    if p > level:
        return []
    slip = _find_slip(best, row)
    if slip is not None:
        return _search(row.without(slip), level)
    starts = [start for start in (best.start, best.end) if start < row.count]
    found = [(int(row.index[start]), p) for start in starts]
    for first, last in pairwise([0, *starts, row.count]):
        found += _search(row.part(first, last), level / (len(starts) + 1))
    return found


def _best_stretch(row: _Row) -> tuple[float, _Stretch]:
    """The least likely stretch, with its p after all that were looked at."""
    centred = row.logs - row.logs.mean()
    stretches = (_best_ending(centred), _best_visit(centred))
    judged = [
        (_p(one, centred, row.variances) * places, one)
        for one, places in zip(stretches, _places(row.count), strict=True)
        if places
    ]
    return min(judged, key=lambda each: each[0])


def _find_slip(stretch: _Stretch, row: _Row) -> int | None:
    """The figure that alone makes the stretch look like a level: half of the others are on the old side."""
    inside = np.zeros(row.count, dtype=bool)
    inside[stretch.start : stretch.end] = True
    levels = row.logs[inside].mean(), row.logs[~inside].mean()
    sign = np.sign(levels[0] - levels[1])
    beyond = sign * (row.logs - sum(levels) / 2) > 0
    if 2 * np.sum(beyond[inside]) > np.sum(inside) and 2 * np.sum(beyond[~inside]) < np.sum(~inside):
        return None
    return int(np.argmax(np.abs(row.logs - np.median(row.logs))))


def _best_ending(centred: Figures) -> _Stretch:
    """The best stretch that reaches to the end of the row."""
    count = len(centred)
    starts = np.arange(LEVEL, count)
    explained = _explained(-np.cumsum(centred)[starts - 1], count - starts, count)
    best = int(np.argmax(explained))
    return _Stretch(start=int(starts[best]), end=count, explained=float(explained[best]))


def _best_visit(centred: Figures) -> _Stretch:
    """The best stretch with levels before and behind it."""
    count = len(centred)
    sums = np.concatenate(([0.0], np.cumsum(centred)))
    best = _Stretch(start=0, end=0)
    for start in range(LEVEL, count - 2 * LEVEL + 1):
        ends = np.arange(start + LEVEL, count - LEVEL + 1)
        explained = _explained(sums[ends] - sums[start], ends - start, count)
        top = int(np.argmax(explained))
        if explained[top] > best.explained:
            best = _Stretch(start=start, end=int(ends[top]), explained=float(explained[top]))
    return best


def _explained(sums: Figures, lengths: NDArray[np.int64], count: int) -> Figures:
    """The squares that a level for the stretch takes away from those around the mean of the row."""
    explained: Figures = sums**2 * count / (lengths * (count - lengths))
    return explained


def _p(stretch: _Stretch, centred: Figures, variances: Figures) -> float:
    """Of so good a stretch at one place, by Student's t."""
    degrees = len(centred) - 2
    around = (float(np.sum(centred**2)) - stretch.explained) / degrees
    t = sqrt(max(0.0, stretch.explained) / max(around, float(np.mean(variances))))
    return 2 * upper_tail(t, degrees)


def _places(count: int) -> tuple[int, int]:
    """In how many places a stretch to the end and one inside were looked for, each kind with half of the errors."""
    starts = max(0, count - 3 * LEVEL + 1)
    endings, visits = count - LEVEL, starts * (starts + 1) // 2
    return (2 * endings, 2 * visits) if visits else (endings, 0)


def _measured_steps(row: _Row, found: Mapping[int, float]) -> list[Step]:
    """How large each step is, by the noise around all levels together."""
    if not found:
        return []
    edges = [0, *sorted(found), row.count]
    levels = [row.logs[first:last] for first, last in pairwise(edges)]
    degrees = row.count - len(levels)
    around = sum(float(np.sum((level - level.mean()) ** 2)) for level in levels) / degrees
    reach = quantile(1 - FALSE_STEPS / 2, degrees) * sqrt(max(around, float(np.mean(row.variances))))
    neighbours = zip(edges[1:-1], pairwise(levels), strict=True)
    return [_step(index, found[index], levels, reach) for index, levels in neighbours]


def _step(index: int, p: float, levels: tuple[Figures, Figures], reach: float) -> Step:
    """`reach` is half the width of the interval of a single figure."""
    old, new = levels
    log_ratio, width = float(new.mean() - old.mean()), reach * sqrt(1 / len(old) + 1 / len(new))
    low, high = exp(log_ratio - width), exp(log_ratio + width)
    return Step(index=index, ratio=exp(log_ratio), low=low, high=high, p=p, figures=len(new))
