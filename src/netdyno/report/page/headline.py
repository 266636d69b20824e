"""What results say in words: who is fastest, leanest and most frugal, by how much and how surely.

Where noise could explain a difference, that is said instead; a winner whose own measurement is weak is never named
without saying so.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from netdyno.report.page.contests import Contender, Contests, Duel, Place, Proved, arena_of, fight
from netdyno.report.page.metrics import CONTESTED, Metric
from netdyno.results.words import number

NAMED = 3  # winners in one sentence
COMPLAINTS = 4  # kinds of weakness in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question of the reader, answered for one device. `lead` is the answer's few words, `words` the rest."""

    question: str
    lead: str
    words: str
    caveat: str = ""
    duels: tuple[Duel, ...] = ()


def answers(contests: Contests, place: Place, proved: Collection[Proved]) -> list[Answer]:
    """Fastest, leanest, most frugal there; nothing about what was not read."""
    found = []
    for metric in CONTESTED:
        arenas = contests.at(place, metric)
        duels = [fight(arena, metric, best, proved) for arena, best in arenas if len(best) > 1]
        if duels:
            found.append(_answer(metric, duels))
        elif arenas:
            found.append(_without_rival(metric, [best[0] for _, best in arenas]))
    return found


def complaints(verdict: str) -> list[str]:
    """A verdict's parts; commas inside their brackets do not count."""
    return re.split(r", (?![^()]*\))", verdict)


def kind_of(complaint: str) -> str:
    """Without what it says of one result only."""
    return "some runs failed" if complaint.endswith(" measured") else complaint.partition(" (")[0]


def times(ratio: float) -> str:
    """As many digits as a reader needs: 1.004, 1.32, 13.2, 132."""
    digits = 3 if ratio < 1.095 else 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:,.{digits}f}"


def _answer(metric: Metric, duels: Sequence[Duel]) -> Answer:
    lead, words = _one(duels[0]) if len(duels) == 1 else _several(duels)
    return Answer(question=metric.champion, lead=lead, words=words, caveat=_caveat(duels), duels=tuple(duels))


def _one(duel: Duel) -> tuple[str, str]:
    names = [f"{each.name} ({each.result.cell.execution})" for each in (duel.first, duel.second)]
    figures = f"{number(duel.first.mean)} against {number(duel.second.mean)} {duel.metric.unit}"
    where, odds = duel.arena.label(), duel.odds
    if not duel.is_decided:
        return "Cannot tell", f"{names[0]} from {names[1]}: {figures}, and {odds.doubt} ({where})."
    margin = duel.metric.margin.format(times(odds.ratio))
    sure = f" (99.5 % interval {times(odds.low)} to {times(odds.high)})" if odds.low and odds.high else ""
    return names[0], f"{margin}{sure}, {names[1]}: {figures} ({where})."


def _several(duels: Sequence[Duel]) -> tuple[str, str]:
    decided = [duel for duel in duels if duel.is_decided]
    undecided = len(duels) - len(decided)
    wins = Counter(duel.first.name for duel in decided).most_common()
    if not wins:
        return "Cannot tell", f"in any of {len(duels)} comparisons: {_doubts(duels)}."
    (best, most), *others = wins
    parts = [f"in {most} of {len(duels)} comparisons ({_margin(decided, best)})"]
    parts += [f"{name} in {count} ({_margin(decided, name)})" for name, count in others[: NAMED - 1]]
    if rest := sum(count for _, count in others[NAMED - 1 :]):
        parts.append(f"others in {rest}")
    if undecided:
        parts.append(f"cannot tell in {undecided}")
    words = "; ".join(parts) + "."
    return (best, words) if 2 * most > len(duels) else ("It depends", f"{best} {words}")


def _margin(duels: Sequence[Duel], name: str) -> str:
    ratios = [duel.odds.ratio for duel in duels if duel.first.name == name]
    low, high = times(min(ratios)), times(max(ratios))
    return duels[0].metric.margin.format(low if low == high else f"{low} to {high}")


def _doubts(duels: Sequence[Duel]) -> str:
    """The commonest reason."""
    return Counter(duel.odds.doubt.partition(",")[0] for duel in duels).most_common(1)[0][0]


def _without_rival(metric: Metric, contenders: Sequence[Contender]) -> Answer:
    """Nobody to compare with: what was reached."""
    ordered = sorted(contenders, key=lambda each: each.mean)
    names = " and ".join(sorted({each.name for each in contenders}))
    ends = [f"{number(each.mean)} {metric.unit} ({arena_of(each.result).label()})" for each in ordered]
    reached = ends[0] if len(ends) == 1 else f"from {ends[0]} to {ends[-1]}"
    return Answer(question=metric.champion, lead="No contest", words=f"{names} had no rival here: {reached}.")


def _caveat(duels: Sequence[Duel]) -> str:
    """How many winners rest on weak numbers, and what is wrong with those."""
    weak = [duel for duel in duels if duel.is_decided and duel.caveats]
    if not weak:
        return ""
    parts = [part for duel in weak for caveat in duel.caveats for part in complaints(caveat)]
    words = Counter(kind_of(part) for part in parts).most_common(COMPLAINTS)
    told = ", ".join(word for word, _ in words)
    decided = sum(duel.is_decided for duel in duels)
    who = "The winner is" if len(duels) == 1 else f"{len(weak)} of {decided} winners are"
    return f"{who} weak or unproved: {told}."
