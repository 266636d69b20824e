"""How reliable the page's numbers are: the weaknesses of its results, what was verified, and what netdyno costs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netdyno.report.charts.palette import look
from netdyno.report.names import is_instrument
from netdyno.report.page.headline import complaints, kind_of
from netdyno.report.page.rows import Row
from netdyno.results.proof import Proof

MOST_COMPLAINTS = 30  # kinds listed

MEANINGS = {
    "warm-up cut short": "the speed was still changing when the warm-up ended",
    "interval not reached": "time ran out before the figure was as exact as wanted",
    "too few blocks": "too few timed blocks to say how exact the figure is",
    "drifting": "the first and second half of a run differ by over 2 %, and by more than its noise",
    "loss does not move": "training changed nothing",
    "host-bound": "most of a step is spent on launching it: the device waits for the host",
    "input-bound": "the device waits for input",
    "slowed by feeding": "passing the input to the device takes time from computing",
    "throttled": "the device reduced its clocks",
    "foreign GPU process": "another process used the device",
    "energy sources disagree": "two ways of reading the energy differ by over 2 %",
    "temperature drifting": "by 5 °C or more during the timed part",
    "more threads than cores": "threads shared a core",
    "more threads than physical cores": "threads shared a core",
    "foreign load": "other processes used over 5 % of the machine",
    "stolen time": "the hypervisor gave over 2 % of the CPU time to other machines",
    "runs differ": "the speeds of the runs differ by over 5 %",
    "one run": "how much another run would differ is unknown",
    "some runs failed": "the figures come from the others",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """A kind of weakness, how many results have it, and what it means."""

    name: str
    count: int
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """What was verified of one framework: how many cases are equal of those tried, and the others in words."""

    name: str
    css: str
    setup: str
    equal: int
    tried: int
    largest_error: float | None  # relative, of a gradient, among those that are equal
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The content of the section."""

    steady: int
    weak: int
    not_measured: int
    complaints: tuple[Complaint, ...]
    proved: tuple[Proved, ...]
    unproved: tuple[str, ...]  # frameworks with a measured result that was not verified
    instruments: tuple[str, ...]  # how long a step of netdyno's own instruments takes


def trust(rows: Sequence[Row], proofs: Iterable[Proof]) -> Trust:
    """Over all rows of the page, its instruments apart, and all proofs of its frameworks."""
    instruments = [row for row in rows if is_instrument(row.cell.framework)]
    rows = [row for row in rows if not is_instrument(row.cell.framework)]
    frameworks = {row.cell.framework for row in rows}
    unproved = {row.cell.framework for row in rows if row.is_measured and not row.proved}
    kept = [proof for proof in proofs if proof.framework in frameworks]
    return Trust(
        steady=sum(row.is_measured and not row.is_weak for row in rows),
        weak=sum(row.is_weak for row in rows),
        not_measured=sum(not row.is_measured for row in rows),
        complaints=tuple(_complaints(rows)),
        proved=tuple(_proved(kept)),
        unproved=tuple(look(name).name for name in sorted(unproved, key=lambda name: (look(name).order, name))),
        instruments=tuple(_instruments(instruments)),
    )


def _instruments(rows: Iterable[Row]) -> list[str]:
    """Such as "Null (computes nothing): 2 µs a step on AMD EPYC 9354"; from the quickest to the slowest."""
    steps: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.head and row.per_step and row.head.value > 0:
            step_s = row.per_step * row.head.wording.scale / row.head.value
            steps.setdefault((look(row.cell.framework).name, row.place), []).append(step_s)
    return [
        f"{name}: {duration(min(found))}{f' to {duration(max(found))}' if len(found) > 1 else ''} a step on {place}"
        for (name, place), found in sorted(steps.items())
    ]


def duration(seconds: float) -> str:
    """In the unit that gives it few digits."""
    unit, factor = next(((u, f) for u, f in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if f * seconds >= 1), ("ns", 1e9))
    return f"{factor * seconds:.3g} {unit}"


def _complaints(rows: Iterable[Row]) -> list[Complaint]:
    counts = Counter(name for row in rows if row.is_weak for name in {kind_of(p) for p in complaints(row.verdict)})
    return [
        Complaint(name=name, count=count, meaning=MEANINGS.get(name, ""))
        for name, count in counts.most_common(MOST_COMPLAINTS)
    ]


def _proved(proofs: Sequence[Proof]) -> list[Proved]:
    groups: dict[tuple[int, str, str], list[Proof]] = {}
    for proof in proofs:
        order = look(proof.framework).order
        groups.setdefault((order, proof.framework, f"{proof.device}, {proof.precision}"), []).append(proof)
    return [_one(name, setup, found) for (_, name, setup), found in sorted(groups.items())]


def _one(framework: str, setup: str, proofs: Sequence[Proof]) -> Proved:
    equal = [proof for proof in proofs if proof.passed]
    errors = [proof.gradients for proof in equal if proof.gradients is not None]
    others = [proof for proof in proofs if not proof.passed]
    return Proved(
        name=look(framework).name,
        css=look(framework).css,
        setup=setup,
        equal=len(equal),
        tried=len(proofs),
        largest_error=max(errors, default=None),
        rest=tuple(f"{proof.case()}: {proof.reason or f'not equal: {proof.difference()}'}" for proof in others),
    )
