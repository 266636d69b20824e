"""The results in words: which framework is best by each figure, by how much and with what certainty.

Where noise could explain a difference, the text says so; a winner whose own measurement is weak is never named
without that caveat.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from netdyno.report.page.contests import Candidate, Contests, Place, Proved, Ranking, rank, setting_of
from netdyno.report.vocabulary import Wording
from netdyno.results.words import number

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


def answers(contests: Contests, place: Place, proved: Collection[Proved]) -> list[Answer]:
    """An answer for each figure that was read there."""
    found = []
    for words in _distinct(contests.contested()):
        settings = contests.at(place, words)
        rankings = [rank(setting, words, best, proved) for setting, best in settings if len(best) > 1]
        if rankings:
            found.append(_answer(words, rankings))
        elif settings:
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
    if not ranking.is_decided:
        return "Cannot tell", f"{names[0]} from {names[1]}: {figures}, and {ratio.doubt} ({where})."
    margin = ranking.wording.margin.format(times(ratio.value))
    sure = f" (99.5 % interval {times(ratio.low)} to {times(ratio.high)})" if ratio.low and ratio.high else ""
    return names[0], f"{margin}{sure}, {names[1]}: {figures} ({where})."


def _several(rankings: Sequence[Ranking]) -> tuple[str, str]:
    decided = [ranking for ranking in rankings if ranking.is_decided]
    undecided = len(rankings) - len(decided)
    wins = Counter(ranking.first.name for ranking in decided).most_common()
    if not wins:
        return "Cannot tell", f"in any of {len(rankings)} comparisons: {_doubts(rankings)}."
    (best, most), *others = wins
    parts = [f"in {most} of {len(rankings)} comparisons ({_margin(decided, best)})"]
    parts += [f"{name} in {count} ({_margin(decided, name)})" for name, count in others[: NAMED - 1]]
    if rest := sum(count for _, count in others[NAMED - 1 :]):
        parts.append(f"others in {rest}")
    if undecided:
        parts.append(f"cannot tell in {undecided}")
    words = "; ".join(parts) + "."
    return (best, words) if 2 * most > len(rankings) else ("It depends", f"{best} {words}")


def _margin(rankings: Sequence[Ranking], name: str) -> str:
    ratios = [ranking.ratio.value for ranking in rankings if ranking.first.name == name]
    low, high = times(min(ratios)), times(max(ratios))
    return rankings[0].wording.margin.format(low if low == high else f"{low} to {high}")


def _doubts(rankings: Sequence[Ranking]) -> str:
    """The most frequent reason."""
    return Counter(ranking.ratio.doubt.partition(",")[0] for ranking in rankings).most_common(1)[0][0]


def _without_rival(wording: Wording, candidates: Sequence[Candidate]) -> Answer:
    """One framework alone: only its figures."""
    ordered = sorted(candidates, key=lambda each: each.mean)
    names = " and ".join(sorted({each.name for each in candidates}))
    ends = [f"{number(each.mean)} {wording.unit} ({setting_of(each.result).label()})" for each in ordered]
    reached = ends[0] if len(ends) == 1 else f"from {ends[0]} to {ends[-1]}"
    return Answer(question=wording.best, lead="No contest", words=f"{names} had no rival here: {reached}.")


def _caveat(rankings: Sequence[Ranking]) -> str:
    """How many winners rest on weak numbers, and what is weak about them."""
    weak = [ranking for ranking in rankings if ranking.is_decided and ranking.caveats]
    if not weak:
        return ""
    parts = [part for ranking in weak for caveat in ranking.caveats for part in complaints(caveat)]
    kinds = ", ".join(kind for kind, _ in Counter(kind_of(part) for part in parts).most_common(COMPLAINTS))
    decided = sum(ranking.is_decided for ranking in rankings)
    who = "The winner is" if len(rankings) == 1 else f"{len(weak)} of {decided} winners are"
    return f"{who} weak or unproved: {kinds}."
