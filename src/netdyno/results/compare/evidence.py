"""What the runs say about a ratio: its logarithm, the error of that, and how well the error is known."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt

from netdyno.results.compare.side import Side
from netdyno.results.student import quantile, upper_tail


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


def _problem(a: Side, b: Side) -> str:
    """Why no interval can be given; empty if one can."""
    sides = {"A": a, "B": b}
    nothing = [name for name, side in sides.items() if not side.runs]
    if nothing:
        first = sides[nothing[0]]
        what = f"no {first.missing}" if first.missing else "nothing measured"
        return f"{what} in {' and '.join(nothing)}" + (f": {first.absent}" if first.missing and first.absent else "")
    if a.source != b.source:
        return f"A reads {a.source}, B {b.source}"
    single = [name for name, side in sides.items() if side.runs == 1]
    return f"one run in {' and '.join(single)}" if single else ""
