"""What may be said of several ratios at once, so that the whole table is wrong as rarely as one line of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log1p

from netdyno.results.compare.evidence import Evidence
from netdyno.results.compare.question import Question

CONFIDENCE = 0.995
"""Of everything that is said of a table at once. 1 % of false alarms is promised; half of that is kept
for noise that is not normal, such as that of runs which fall into two modes."""

LARGEST_LOG = 700.0  # of an interval's end: beyond is no float. Two runs each say next to nothing in a long table

EQUAL, CANNOT_TELL = "equal", "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """B's figure over A's with its interval; `faster` means that B is.

    The interval is drawn at the confidence at which the verdict was judged: 99.5 % for a single comparison,
    more in a table of several.
    """

    ratio: float | None
    low: float | None
    high: float | None
    verdict: str
    reason: str = ""  # why one cannot tell
    confidence: float | None = None
    p: float | None = None  # for no difference at all, adjusted for the number of comparisons
    is_within_margin: bool = False  # surely, whether or not there is a difference


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A hypothesis among others: its adjusted p, and the share of errors at which Holm looked at it."""

    p: float
    level: float

    @property
    def is_rejected(self) -> bool:
        return self.p <= 1 - CONFIDENCE


def judge(evidence: Sequence[Evidence], question: Question) -> list[Comparison]:
    """A verdict on each; those without an interval do not count as comparisons."""
    known = [one for one in evidence if one.is_judged]
    differences = _holm([_no_difference(one) for one in known])
    equalities = _holm([_no_equality(one, log1p(question.margin)) for one in known])
    said = iter([_said(*three, question) for three in zip(known, differences, equalities, strict=True)])
    return [next(said) if one.is_judged else _unsaid(one) for one in evidence]


def beyond(evidence: Sequence[Evidence], share: float) -> list[bool]:
    """Which of them are surely smaller by more than a share; seldom any that is not, however many are asked."""
    bound = log1p(-share)
    judged = iter(_holm([2 * one.under(bound) for one in evidence if one.is_judged]))
    return [one.is_judged and next(judged).is_rejected for one in evidence]


def _no_difference(one: Evidence) -> float:
    return 2 * min(one.over(0.0), one.under(0.0))


def _no_equality(one: Evidence, margin: float) -> float:
    """Two one-sided tests, at half the level each, so that an interval within the margins says the same."""
    return 2 * max(one.over(-margin), one.under(margin))


def _holm(p_values: Sequence[float]) -> list[_Judged]:
    """Holm's step-down: the smallest p must pass a level shared by all, the next one by all but one, and so on."""
    count = len(p_values)
    adjusted, highest = [0.0] * count, 0.0
    places = sorted(range(count), key=p_values.__getitem__)
    for place, index in enumerate(places):
        highest = max(highest, min(1.0, (count - place) * p_values[index]))
        adjusted[index] = highest
    rejected = sum(p <= 1 - CONFIDENCE for p in adjusted)
    levels = {index: (1 - CONFIDENCE) / (count - min(place, rejected)) for place, index in enumerate(places)}
    return [_Judged(p=adjusted[index], level=levels[index]) for index in range(count)]


def _said(one: Evidence, difference: _Judged, equality: _Judged, question: Question) -> Comparison:
    assert one.log_ratio is not None
    verdict, level, reason = _verdict(one, difference, equality, question)
    low, high = one.interval(level)
    return Comparison(
        ratio=exp(one.log_ratio),
        low=exp(low),
        high=exp(min(high, LARGEST_LOG)),
        verdict=verdict,
        reason=reason,
        confidence=1 - level,
        p=difference.p,
        is_within_margin=equality.is_rejected,
    )


def _verdict(one: Evidence, difference: _Judged, equality: _Judged, question: Question) -> tuple[str, float, str]:
    """The word, the level it was judged at, and why there is no better one."""
    assert one.log_ratio is not None
    if difference.is_rejected:
        return question.larger if one.log_ratio > 0 else question.smaller, difference.level, ""
    if equality.is_rejected:
        return EQUAL, equality.level, ""
    return CANNOT_TELL, min(difference.level, equality.level), "the interval holds 1"


def _unsaid(one: Evidence) -> Comparison:
    ratio = None if one.log_ratio is None else exp(one.log_ratio)
    return Comparison(ratio=ratio, low=None, high=None, verdict=CANNOT_TELL, reason=one.problem)
