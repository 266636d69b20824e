"""How much energy a window took, from a counter of joules and from samples of watts."""

import math
import statistics
from collections.abc import Sequence
from itertools import groupby, pairwise

Series = Sequence[tuple[float, float]]
"""(time in seconds, value) in order of time."""


def during(series: Series, start: float, end: float) -> Series:
    """The part of a series that lies in a window."""
    return [(at, value) for at, value in series if start <= at <= end]


def joules_by_counter(series: Series, seconds: float) -> float:
    """The counter's slope times the window.

    A counter moves only when the device refreshes it, so its value at an edge is late by up to a refresh. A line
    through all readings in the window is late by the same everywhere, and its slope is not.
    """
    middle_at = sum(at for at, _ in series) / len(series)
    middle_j = sum(joules for _, joules in series) / len(series)
    spread = sum((at - middle_at) ** 2 for at, _ in series)
    watts = sum((at - middle_at) * (joules - middle_j) for at, joules in series) / spread
    return watts * seconds


def joules_by_power(series: Series, start: float, end: float) -> float:
    """The integral by trapezoids; the first and the last reading stand for the edges."""
    inner = sum((after - at) * (watts + next_watts) / 2 for (at, watts), (after, next_watts) in pairwise(series))
    return inner + (series[0][0] - start) * series[0][1] + (end - series[-1][0]) * series[-1][1]


def sampling_error(series: Series) -> float:
    """The relative standard error of the mean of a power that is seen now and then, and changes with the step.

    A reading that is the same as the one before it is taken for the same look of the device.
    """
    seen = [value for value, _ in groupby(value for _, value in series)]
    if len(seen) < 2:
        return 0.0
    return statistics.stdev(seen) / math.sqrt(len(seen)) / statistics.fmean(seen)
