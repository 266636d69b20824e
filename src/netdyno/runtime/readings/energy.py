"""How much energy a window took, by a counter of joules and by samples of power."""

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

Series = Sequence[tuple[float, float]]
"""(time in seconds, value) in order of time."""


def during(series: Series, start: float, end: float) -> Series:
    """The part of a series that lies in a window."""
    return [(at, value) for at, value in series if start <= at <= end]


def joules_by_counter(series: Series, seconds: float) -> float:
    """The counter's slope times the window.

    A counter changes only when the device refreshes it, so its value at an edge lags by up to a refresh. A line
    through all points in the window lags by the same everywhere, which does not change its slope.
    """
    middle_at = sum(at for at, _ in series) / len(series)
    middle_j = sum(joules for _, joules in series) / len(series)
    spread = sum((at - middle_at) ** 2 for at, _ in series)
    watts = sum((at - middle_at) * (joules - middle_j) for at, joules in series) / spread
    return watts * seconds


def joules_by_power(series: Series, start: float, end: float) -> float:
    """The integral by trapezoids; the first and the last point are extended to the edges."""
    inner = sum((after - at) * (watts + next_watts) / 2 for (at, watts), (after, next_watts) in pairwise(series))
    return inner + (series[0][0] - start) * series[0][1] + (end - series[-1][0]) * series[-1][1]


def sampling_error(parts: Sequence[Series]) -> float:
    """The relative standard error of the mean total power of several devices, each sampled now and then while it
    changes with the step. A value equal to the one before it is taken for the same refresh of the device."""
    refreshed = [[value for value, _ in groupby(value for _, value in part)] for part in parts]
    errors = [statistics.stdev(values) / math.sqrt(len(values)) for values in refreshed if len(values) > 1]
    return math.hypot(*errors) / sum(map(statistics.fmean, refreshed)) if errors else 0.0


def combined(parts: Sequence[Series], rule: Callable[[Sequence[float]], float]) -> Series:
    """One series out of several: at each time of any point, the rule over the latest value of every part. It begins
    when every part has a value."""
    if len(parts) == 1:
        return parts[0]
    latest: dict[int, float] = {}
    found: dict[float, float] = {}
    for at, place, value in sorted((at, place, value) for place, part in enumerate(parts) for at, value in part):
        latest[place] = value
        if len(latest) == len(parts):
            found[at] = rule(list(latest.values()))
    return list(found.items())
