"""The results in words: which framework is best by each figure, by how much and with what certainty.

Where noise could explain a difference, the text says so; a winner whose own measurement is weak is never named
without that caveat.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from netdyno.report.page.contests import (
    NOT_VERIFIED,
    Candidate,
    Contests,
    Place,
    Ranking,
    rank,
    setting_of,
)
from netdyno.report.vocabulary import Wording
from netdyno.results.proof import Proved
from netdyno.results.words import number

NO_DIFFERENCE = "Equal within 1 %"
NAMED = 3  # winners in one sentence
COMPLAINTS = 4  # kinds of weakness in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question of the reader, answered for one device. `lead` is the answer in a few words, `words` the rest."""

    question: str
    lead: str
    words: str
    caveat: str = ""
    rankings: tuple[Ranking, ...] = ()


def answers(contests: Contests, place: Place, proved: Proved) -> list[Answer]:
    """An answer for each figure by which something can be compared there, and for each main figure."""
    found = []
    for words in _distinct(contests.contested()):
        settings = contests.at(place, words)
        rankings = [rank(setting, words, best, proved) for setting, best in settings if len(best) > 1]
        if rankings:
            found.append(_answer(words, rankings))
        elif settings and words.key in contests.heads:
            found.append(_without_rival(words, [best[0] for _, best in settings]))
    return found


def _distinct(contested: Sequence[Wording]) -> list[Wording]:
    """The same, where two would ask alike with the workload or the unit in the question."""
    several = len({words.workload for words in contested}) > 1
    units = Counter((words.workload, words.best) for words in contested)
    found = []
    for words in contested:
        more = [words.workload] if several else []
        more += [words.unit] if units[words.workload, words.best] > 1 else []
        found.append(replace(words, best=f"{words.best} ({', '.join(more)})") if more else words)
    return found


def complaints(verdict: str) -> list[str]:
    """A verdict's parts; commas inside their brackets do not count."""
    return re.split(r", (?![^()]*\))", verdict)


def kind_of(complaint: str) -> str:
    """Without the details of one result."""
    return "some runs failed" if complaint.endswith(" measured") else complaint.partition(" (")[0]


def times(ratio: float) -> str:
    """A ratio with as many digits as a reader needs: 1.004, 1.32, 13.2, 132."""
    digits = 3 if ratio < 1.095 else 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:,.{digits}f}"


def _answer(wording: Wording, rankings: Sequence[Ranking]) -> Answer:
    lead, words = _one(rankings[0]) if len(rankings) == 1 else _several(rankings)
    caveat = _caveat(rankings)
    return Answer(question=wording.best, lead=lead, words=words, caveat=caveat, rankings=tuple(rankings))


def _one(ranking: Ranking) -> tuple[str, str]:
    names = [f"{each.name} ({each.result.cell.execution})" for each in (ranking.first, ranking.second)]
    figures = f"{number(ranking.first.mean)} against {number(ranking.second.mean)} {ranking.wording.unit}"
    where, ratio = ranking.setting.label(), ranking.ratio
    if ranking.is_equal:
        return NO_DIFFERENCE, f"{names[0]} and {names[1]}: {figures} ({where})."
    if not ranking.is_decided:
        return "Cannot tell", f"{names[0]} from {names[1]}: {figures}, and {ratio.doubt} ({where})."
    margin = ranking.wording.margin.format(times(ratio.value))
    sure = f" ({times(ratio.low)} to {times(ratio.high)}, allowing for noise)" if ratio.low and ratio.high else ""
    return names[0], f"{margin}{sure}, {names[1]}: {figures} ({where})."


def _several(rankings: Sequence[Ranking]) -> tuple[str, str]:
    decided = [ranking for ranking in rankings if ranking.is_decided]
    equal = sum(ranking.is_equal for ranking in rankings)
    doubtful = len(rankings) - len(decided) - equal
    wins = Counter(ranking.first.name for ranking in decided).most_common()
    rest = [("equal within 1 %", equal, "")] if equal else []
    rest += [("cannot tell", doubtful, f" ({_doubts(rankings)})")] if doubtful else []
    if not wins:
        return _undecided(rest, len(rankings))
    (best, most), *others = wins
    parts = [f"in {most} of {len(rankings)} comparisons ({_margin(decided, best)})"]
    parts += [f"{name} in {count} ({_margin(decided, name)})" for name, count in others[: NAMED - 1]]
    if more := sum(count for _, count in others[NAMED - 1 :]):
        parts.append(f"others in {more}")
    words = "; ".join([*parts, *(f"{what} in {count}{why}" for what, count, why in rest)]) + "."
    return (best, words) if 2 * most > len(rankings) else ("It depends", f"{best} {words}")


def _undecided(parts: Sequence[tuple[str, int, str]], comparisons: int) -> tuple[str, str]:
    """Nobody won: what is said of most comparisons leads."""
    (what, count, why), *others = sorted(parts, key=lambda part: -part[1])
    rest = "".join(f"; {other} in {number}{reason}" for other, number, reason in others)
    return f"{what[0].upper()}{what[1:]}", f"in {count} of {comparisons} comparisons{why}{rest}."


def _margin(rankings: Sequence[Ranking], name: str) -> str:
    ratios = [ranking.ratio.value for ranking in rankings if ranking.first.name == name]
    low, high = times(min(ratios)), times(max(ratios))
    return rankings[0].wording.margin.format(low if low == high else f"{low} to {high}")


def _doubts(rankings: Sequence[Ranking]) -> str:
    """The most frequent reason why no winner is named."""
    doubts = [ranking.ratio.doubt for ranking in rankings if not (ranking.is_decided or ranking.is_equal)]
    return Counter(doubt.partition(",")[0] for doubt in doubts).most_common(1)[0][0]


def _without_rival(wording: Wording, candidates: Sequence[Candidate]) -> Answer:
    """One framework alone: only its figures."""
    ordered = sorted(candidates, key=lambda each: each.mean)
    names = " and ".join(sorted({each.name for each in candidates}))
    ends = [
        f"{number(each.mean)} {wording.unit} ({setting_of(each.result.cell, each.result.machine).label()})"
        for each in ordered
    ]
    reached = ends[0] if len(ends) == 1 else f"from {ends[0]} to {ends[-1]}"
    words = f"{names}, with no other framework at the same settings: {reached}."
    return Answer(question=wording.best, lead="Nothing to compare", words=words)


def _caveat(rankings: Sequence[Ranking]) -> str:
    """How many winners were measured badly and in what way, and how many were not verified."""
    decided = [ranking for ranking in rankings if ranking.is_decided]
    kinds = [_weaknesses(ranking) for ranking in decided]
    weak, unverified = sum(map(bool, kinds)), sum(NOT_VERIFIED in ranking.caveats for ranking in decided)
    counts = Counter(kind for found in kinds for kind in found).most_common(COMPLAINTS)
    parts = [f"{_who(weak, rankings, decided)} weak: {', '.join(kind for kind, _ in counts)}."] if weak else []
    parts += [f"{_who(unverified, rankings, decided)} not verified."] if unverified else []
    return " ".join(parts)


def _weaknesses(ranking: Ranking) -> list[str]:
    """The kinds of weakness of the winner's measurement."""
    weak = [caveat for caveat in ranking.caveats if caveat != NOT_VERIFIED]
    return [kind_of(part) for caveat in weak for part in complaints(caveat)]


def _who(count: int, rankings: Sequence[Ranking], decided: Sequence[Ranking]) -> str:
    if len(rankings) == 1:
        return "The winner is"
    return f"{count} of {len(decided)} winners {'is' if count == 1 else 'are'}"
