"""What the runs say about a ratio: its logarithm, the error of that, and how well the error is known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, log, sqrt

import numpy as np

from netdyno.results.compare.question import error_of
from netdyno.results.figure import Figure
from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.statistics import value_of
from netdyno.results.student import quantile, upper_tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The mean logarithm of a figure over a result's runs, and the variance of that mean."""

    runs: int
    mean: float = 0.0
    variance: float = 0.0
    source: str = ""  # which reading the figure is
    missing: str = ""  # the figure that measured runs lack
    problem: str = ""  # why they lack it

    @classmethod
    def of(cls, result: Result, figure: str = "") -> "Side":
        """By the figure of that name, or the headline."""
        name = figure or result.headline
        found = [(record, record.figures[name]) for record in result.measured if name in record.figures]
        usable = [(record, one, value) for record, one in found if (value := value_of(one, record)) > 0]
        if not usable:
            missing = name if result.measured else ""
            return cls(runs=0, missing=missing, problem=result.absent.get(name, "") if missing else "")
        logs = [log(value) for *_, value in usable]
        variance = _variance(logs, [(record, one) for record, one, _ in usable])
        return cls(
            runs=len(logs), mean=sum(logs) / len(logs), variance=variance / len(logs), source=usable[0][1].source
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The logarithm of a ratio with its standard error; without an error where `problem` says why."""

    log_ratio: float | None
    error: float = 0.0
    degrees: float = inf
    problem: str = ""

    @property
    def is_judged(self) -> bool:
        return not self.problem

    def over(self, bound: float) -> float:
        """How unlikely so large a ratio is, one-sided, if the true logarithm were `bound`."""
        assert self.log_ratio is not None
        return upper_tail((self.log_ratio - bound) / self.error, self.degrees)

    def under(self, bound: float) -> float:
        """How unlikely so small a ratio is, likewise."""
        assert self.log_ratio is not None
        return upper_tail((bound - self.log_ratio) / self.error, self.degrees)

    def interval(self, level: float) -> tuple[float, float]:
        """Logarithms that hold the true one but for a share `level` of all cases."""
        assert self.log_ratio is not None
        reach = quantile(1 - level / 2, self.degrees) * self.error
        return self.log_ratio - reach, self.log_ratio + reach


def weigh(a: Side, b: Side) -> Evidence:
    """B over A, by Welch's t on logarithms.

    A bootstrap of three runs would be too narrow: it cannot know how much a fourth would differ.
    """
    problem = _problem(a, b)
    if not a.runs or not b.runs or a.source != b.source:
        return Evidence(log_ratio=None, problem=problem)
    if problem:
        return Evidence(log_ratio=b.mean - a.mean, problem=problem)
    return combined([(-1.0, a), (1.0, b)])


def combined(parts: Iterable[tuple[float, Side]]) -> Evidence:
    """A weighted sum of means of at least two runs each, with the Welch–Satterthwaite degrees of freedom."""
    weighed = [(weight, side) for weight, side in parts if weight]
    terms = [(weight**2 * side.variance, side.runs - 1) for weight, side in weighed]
    variance = sum(term for term, _ in terms)
    degrees = variance**2 / sum(term**2 / freedom for term, freedom in terms)
    mean = sum(weight * side.mean for weight, side in weighed)
    return Evidence(log_ratio=mean, error=sqrt(variance), degrees=degrees)


def _variance(logs: Sequence[float], figures: Sequence[tuple[Record, Figure]]) -> float:
    """Of a run: the spread between runs, but not less than the error that each run has by itself.

    The spread holds that error already, so it is no addition; but runs that agree by luck would make it vanish.
    """
    within = sum(error_of(figure, record) ** 2 for record, figure in figures) / len(figures)
    return max(float(np.var(logs, ddof=1)), within) if len(logs) > 1 else within


def _problem(a: Side, b: Side) -> str:
    """Why no interval can be given; empty if one can."""
    sides = {"A": a, "B": b}
    nothing = [name for name, side in sides.items() if not side.runs]
    if nothing:
        reason = a.problem if not a.runs else b.problem
        what = f"no {sides[nothing[0]].missing}" if sides[nothing[0]].missing else "nothing measured"
        return f"{what} in {' and '.join(nothing)}" + (f": {reason}" if reason else "")
    if a.source != b.source:
        return f"A reads {a.source}, B {b.source}"
    single = [name for name, side in sides.items() if side.runs == 1]
    return f"one run in {' and '.join(single)}" if single else ""
