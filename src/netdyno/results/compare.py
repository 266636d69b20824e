"""How two results compare: by what factor, within which limits, and whether that is more than noise."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from netdyno.errors import NetdynoError, unknown
from netdyno.results.cell import CHOICES, FIELDS
from netdyno.results.record import Sample
from netdyno.results.result import Result
from netdyno.results.statistics import images_per_s, median_interval
from netdyno.results.student import quantile

FASTER, SLOWER, CANNOT_TELL = "faster", "slower", "cannot tell"
CONFIDENCE = 0.99
SELECTABLE = (*FIELDS, "series", "machine")
WHOLE_NUMBERS = ("batch", "threads", "series")
# No machine repeats a speed more closely than this, however well a few runs happen to agree.
LEAST_ERROR = 1e-4
WIDTH_IN_ERRORS = 3.92  # a 95 % interval is that many standard errors wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """B's speed over A's with its 99 % interval; `faster` means that B is."""

    ratio: float | None
    low: float | None
    high: float | None
    verdict: str
    reason: str = ""  # why one cannot tell


def compare(a: Result, b: Result) -> Comparison:
    """B against A, by Welch's t interval on the logarithm of the runs' median speeds.

    A bootstrap of three runs would be too narrow: it cannot know how much a fourth would differ.
    """
    sides = {"A": _Side.of(a), "B": _Side.of(b)}
    ratio = exp(sides["B"].mean - sides["A"].mean) if all(s.runs for s in sides.values()) else None
    short = [f"{name} has {side.runs} measured" for name, side in sides.items() if side.runs < 2]
    if ratio is None or short:
        reason = f"two runs a side are needed, {' and '.join(short)}"
        return Comparison(ratio=ratio, low=None, high=None, verdict=CANNOT_TELL, reason=reason)
    margin = _margin(sides["A"], sides["B"])
    low, high = ratio * exp(-margin), ratio * exp(margin)
    verdict = FASTER if low > 1 else SLOWER if high < 1 else CANNOT_TELL
    reason = "the interval holds 1" if verdict == CANNOT_TELL else ""
    return Comparison(ratio=ratio, low=low, high=high, verdict=verdict, reason=reason)


def select(results: Iterable[Result], selector: str) -> list[Result]:
    """The results that a selector such as `network=lenet,batch=32` names.

    Unless it names a series, only the newest of each cell and machine counts.
    """
    wanted = _parsed(selector)
    chosen = [result for result in results if all(_value(result, n) == v for n, v in wanted.items())]
    if "series" in wanted:
        return chosen
    newest: dict[tuple[object, str], int] = {}
    for result in chosen:
        key = result.cell, result.machine
        newest[key] = max(result.series, newest.get(key, result.series))
    return [result for result in chosen if result.series == newest[result.cell, result.machine]]


def fields_of(selector: str) -> frozenset[str]:
    """The fields that a selector names: those in which two sides may differ."""
    return frozenset(_parsed(selector))


def pair(
    a_results: Iterable[Result], b_results: Iterable[Result], fields: Collection[str]
) -> list[tuple[Result, Result]]:
    """What may be compared: equal in machine and in every cell field but the `fields` the selectors name."""
    same = [name for name in (*FIELDS, "machine") if name not in fields]
    partners: dict[tuple[object, ...], list[Result]] = {}
    for b in b_results:
        partners.setdefault(tuple(_value(b, name) for name in same), []).append(b)
    return [(a, b) for a in a_results for b in partners.get(tuple(_value(a, name) for name in same), ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """The mean logarithm of a side's speeds, and the variance of that mean."""

    runs: int
    mean: float = 0.0
    variance: float = 0.0

    @classmethod
    def of(cls, result: Result) -> "_Side":
        runs = [record.samples for record in result.measured]
        logs = [log(images_per_s(samples, result.cell.batch)) for samples in runs]
        if len(runs) < 2:
            return cls(runs=len(runs), mean=sum(logs))
        # The spread between runs holds the error within them already. It is added once more because runs
        # that agree by luck would otherwise make the interval vanish; the price is a slightly wide interval.
        within = sum(_error_of_median(samples) ** 2 for samples in runs) / len(runs)
        between = float(np.var(logs, ddof=1))
        return cls(runs=len(runs), mean=sum(logs) / len(logs), variance=(between + within) / len(runs))


def _error_of_median(samples: Sequence[Sample]) -> float:
    """Standard error of the logarithm of a run's median block."""
    interval = median_interval(samples)
    if interval is None:  # too few blocks: all that is known is their range
        seconds = [sample.seconds_per_step for sample in samples]
        interval = min(seconds), max(seconds)
    return max(log(interval[1] / interval[0]) / WIDTH_IN_ERRORS, LEAST_ERROR)


def _margin(a: _Side, b: _Side) -> float:
    """Half the width of Welch's interval, with the Welch–Satterthwaite degrees of freedom."""
    variance = a.variance + b.variance
    degrees = variance**2 / (a.variance**2 / (a.runs - 1) + b.variance**2 / (b.runs - 1))
    return quantile((1 + CONFIDENCE) / 2, degrees) * sqrt(variance)


def _parsed(selector: str) -> Mapping[str, str | int]:
    wanted: dict[str, str | int] = {}
    for part in selector.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not (name and equals and value):
            message = f"expected a selector like network=lenet,batch=32, received '{selector}'."
            raise NetdynoError(message, hint=f"Fields: {', '.join(SELECTABLE)}.")
        if name not in SELECTABLE:
            raise unknown("field", name, SELECTABLE)
        if name in wanted:
            raise NetdynoError(f"the selector '{selector}' names {name} twice.", hint="Name it once.")
        wanted[name] = _checked(name, value)
    return wanted


def _checked(name: str, value: str) -> str | int:
    if name in CHOICES and value not in CHOICES[name]:
        raise unknown(name, value, CHOICES[name])
    if name not in WHOLE_NUMBERS:
        return value
    if not (value.isascii() and value.isdigit()) or int(value) < 1:
        raise NetdynoError(f"{name}: expected a whole number over 0, received '{value}'.")
    return int(value)


def _value(result: Result, name: str) -> object:
    return getattr(result if name in ("series", "machine") else result.cell, name)
