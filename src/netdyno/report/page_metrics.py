"""Which figures a page compares: what each is called, where it is read, and why it may be missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum, sqrt

from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.statistics import value_of
from netdyno.results.student import quantile

MEBIBYTE = 2**20
CONFIDENCE = 0.95  # of an interval shown beside a reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One figure of a result, as it is `compared`, in a unit for people. `champion` is what the best is called,
    `margin` says how far the next is behind it."""

    name: str
    compared: str  # the figure's name
    scale: float = 1.0
    title: str
    unit: str
    meaning: str
    more_is_better: bool = False
    champion: str = ""  # empty where neither more nor less is better
    margin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The mean over a result's runs with its 95 % interval, which one run cannot have; or why there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


SPEED = Metric(
    name="speed",
    compared="throughput",
    title="Training speed",
    unit="images/s",
    meaning="Mean of the runs' median speeds; more is better.",
    more_is_better=True,
    champion="Fastest",
    margin="{} times as fast as the next",
)
MEMORY = Metric(
    name="memory",
    compared="memory",
    scale=1 / MEBIBYTE,
    title="Peak memory",
    unit="MiB",
    meaning="On a GPU what tensors take, as the framework counts; on a CPU the whole process. Less is better.",
    champion="Leanest in memory",
    margin="the next needs {} times its memory",
)
POWER = Metric(
    name="power",
    compared="power",
    title="Mean power",
    unit="W",
    meaning="Of the device while it trained. A device that draws more may still need less for an image.",
)
ENERGY = Metric(
    name="energy",
    compared="energy",
    scale=1e3,
    title="Energy per image",
    unit="mJ",
    meaning="Of the GPU, idle power included; of the processor package on a CPU. Less is better.",
    champion="Most frugal with energy",
    margin="the next needs {} times its energy",
)
METRICS = (SPEED, MEMORY, POWER, ENERGY)
CONTESTED = tuple(metric for metric in METRICS if metric.champion)


def run_values(metric: Metric, runs: Sequence[Record]) -> list[float]:
    """The figure of every measured run that has it."""
    found = [(record, record.figures[metric.compared]) for record in runs if metric.compared in record.figures]
    return [metric.scale * value_of(figure, record) for record, figure in found]


def figures(result: Result) -> dict[str, Figure]:
    """Every figure of the result by its metric's name."""
    runs = result.measured
    return {metric.name: _figure(metric, result, runs) for metric in METRICS}


def _figure(metric: Metric, result: Result, runs: Sequence[Record]) -> Figure:
    """The result's figure, or the reason that there is none."""
    if metric is SPEED and result.head is not None:
        alone = result.runs < 2
        low, high = (None, None) if alone else (result.head.low, result.head.high)
        return Figure(value=result.head.value, low=low, high=high)
    values = run_values(metric, runs)
    if not values:
        return Figure(value=None, reason=_why(metric, result, runs))
    mean = fsum(values) / len(values)
    margin = _margin(values, mean)
    return Figure(
        value=mean,
        low=None if margin is None else max(mean - margin, 0.0),
        high=None if margin is None else mean + margin,
    )


def _margin(values: Sequence[float], mean: float) -> float | None:
    """Half of Student's interval for the mean."""
    count = len(values)
    if count < 2:
        return None
    variance = fsum((value - mean) ** 2 for value in values) / (count - 1)
    return _t(count - 1) * sqrt(variance / count)


@cache
def _t(degrees: int) -> float:
    """Few numbers of runs occur, and a quantile takes a millisecond to find."""
    return quantile((1 + CONFIDENCE) / 2, degrees)


def _why(metric: Metric, result: Result, runs: Sequence[Record]) -> str:
    if not runs:
        return f"{result.outcome}: {result.reason}" if result.reason else result.outcome
    return runs[-1].absent.get(metric.compared, "") or _UNTOLD.get((metric.name, result.cell.device), "not read")


_UNTOLD = {  # what is said where the record says nothing
    ("memory", "cpu"): "the worker did not say",
    ("memory", "cuda"): "the framework does not count it",
    ("power", "cpu"): "power is read on GPUs only",
    ("energy", "cpu"): "the processor's counters were not read",
}
