"""How reliable the page's numbers are: the weaknesses of its results, and what was proved equal."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netdyno.report.charts.palette import look
from netdyno.report.page.headline import complaints, kind_of
from netdyno.report.page.rows import Row
from netdyno.results.proof import Proof

MOST_COMPLAINTS = 30  # kinds listed

MEANINGS = {
    "warm-up cut short": "the blocks were still changing when the warm-up ended",
    "interval not reached": "time ran out before the median was within the target",
    "too few blocks": "too few for an interval of the median",
    "drifting": "the halves of a run differ by over 2 % and by more than its noise",
    "loss does not move": "training changed nothing",
    "host-bound": "most of a step is spent on launching it: the device waits for the host",
    "input-bound": "the device waits for input",
    "slowed by feeding": "passing the input to the device takes time from computing",
    "throttled": "the device reduced its clocks",
    "foreign GPU process": "another process used the device",
    "energy sources disagree": "the energy counter and the integral of power differ by over 2 %",
    "temperature drifting": "by 5 °C or more during the timed part",
    "more threads than cores": "threads shared a core",
    "more threads than physical cores": "threads shared a core",
    "foreign load": "other processes used over 5 % of the machine",
    "stolen time": "the hypervisor gave over 2 % of the CPU time to other machines",
    "runs differ": "the runs' medians spread over 5 %",
    "one run": "the difference between runs is unknown",
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
    """The proofs of one framework: how many cases are equal of those tried, and the others in words."""

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
    unproved: tuple[str, ...]  # frameworks with a measured result that no proof covers


def trust(rows: Sequence[Row], proofs: Iterable[Proof]) -> Trust:
    """Over all rows of the page and all proofs of its frameworks."""
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
    )


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
        rest=tuple(
            f"{proof.case()}: {proof.reason or f'not equal, first at {proof.worst_node}'}" for proof in others
        ),
    )
