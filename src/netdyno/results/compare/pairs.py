"""How results compare: which pairs may be, by what factor each differs, and all of them together."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeVar

from netdyno.errors import NetdynoError
from netdyno.results.cell import FIELDS
from netdyno.results.compare.evidence import Evidence, combined, weigh
from netdyno.results.compare.family import Comparison, beyond, judge
from netdyno.results.compare.question import Question, question_of
from netdyno.results.compare.side import Side
from netdyno.results.result import Result

Either = TypeVar("Either", Result, Side)
LOOKED_AT = 100_000  # pairs that are looked at for the nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two results, as far as a comparison keeps them, and what is said of them."""

    a: Side
    b: Side
    comparison: Comparison
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The geometric mean of the ratios that have an interval, of exactly these cells and no others."""

    comparison: Comparison
    cells: int


def compare(a: Result, b: Result, question: Question | None = None) -> Comparison:
    """B against A, as if nothing else were compared."""
    return compare_all([(a, b)], question or question_of([a, b]))[0].comparison


def compare_all(pairs: Sequence[tuple[Either, Either]], question: Question) -> list[Compared]:
    """Every pair, judged together: in 99.5 of 100 such tables nothing is called different that is equal."""
    sides = [(Side.of(a, question.figure), Side.of(b, question.figure)) for a, b in pairs]
    evidence = [weigh(a, b) for a, b in sides]
    said = judge(evidence, question)
    return [
        Compared(a=a, b=b, comparison=comparison, evidence=one)
        for (a, b), comparison, one in zip(sides, said, evidence, strict=True)
    ]


def overall(compared: Sequence[Compared], question: Question) -> Overall | None:
    """The geometric mean; None where no cell has an interval, or all are in turn on both sides.

    A result in several pairs is one piece of evidence, not several.
    """
    judged = [one for one in compared if one.evidence.is_judged]
    sides = {_runs(side): side for one in judged for side in (one.a, one.b)}
    counts = Counter(_runs(one.b) for one in judged)
    counts.subtract(_runs(one.a) for one in judged)
    if not any(counts.values()):
        return None
    parts = [(counts[key] / len(judged), side) for key, side in sides.items()]
    (comparison,) = judge([combined(parts)], question)
    return Overall(comparison=comparison, cells=len(judged))


def find_smaller(compared: Sequence[Compared], share: float) -> list[Compared]:
    """Those whose figure is surely smaller by more than a share."""
    are_beyond = beyond([one.evidence for one in compared], share)
    return [one for one, is_beyond in zip(compared, are_beyond, strict=True) if is_beyond]


def pair(
    a_results: Iterable[Either], b_results: Iterable[Either], fields: Collection[str]
) -> list[tuple[Either, Either]]:
    """What may be compared: equal in machine and in every cell field but the `fields` the selectors name."""
    same = _same(fields)
    partners: dict[tuple[object, ...], list[Either]] = {}
    for b in b_results:
        partners.setdefault(tuple(_value(b, name) for name in same), []).append(b)
    return [(a, b) for a in a_results for b in partners.get(tuple(_value(a, name) for name in same), ())]


def are_same_runs(a: Side, b: Side) -> bool:
    """Whether both are the same runs, maybe from two copies of a store."""
    return _runs(a) == _runs(b)


def nothing_in_common(a: Sequence[Either], b: Sequence[Either], fields: Collection[str]) -> NetdynoError:
    """Why there are no pairs: where the two nearest cells differ that should not."""
    same = _same(fields)
    differences = (
        [f"{name} ({_value(x, name)}, {_value(y, name)})" for name in same if _value(x, name) != _value(y, name)]
        for x, y in islice(product(a, b), LOOKED_AT)
    )
    nearest = min(differences, key=len)
    named = f"in {', '.join(sorted(fields))}" if fields else "in their runs"
    return NetdynoError(
        f"no two cells differ only {named}: the nearest differ in {', '.join(nearest)} too.",
        hint="Name that field on both sides, or see what there is: netdyno results",
    )


def _same(fields: Collection[str]) -> list[str]:
    return [name for name in (*FIELDS, "machine") if name not in fields]


def _runs(side: Side) -> tuple[object, ...]:
    return side.cell, side.machine, side.series, side.ids


def _value(one: Result | Side, name: str) -> object:
    return getattr(one if name == "machine" else one.cell, name)
