"""Who is compared with whom, and what a comparison comes to.

Only equals meet: the same network, dataset, batch, precision, data and threads on the same device of the same
machine, each framework with its best execution.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import fsum

from netdyno.frameworks.spec import specs
from netdyno.report.page_metrics import CONTESTED, SPEED, Metric, run_values
from netdyno.report.palette import look
from netdyno.results.compare.family import EQUAL
from netdyno.results.compare.pairs import compare
from netdyno.results.compare.question import question_of
from netdyno.results.proof import Proof
from netdyno.results.result import STEADY, Result

Place = tuple[str, str]  # a machine and one of its devices
Proved = tuple[str, str, str, str, str, str]  # machine, framework, network, dataset, device, precision


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Arena:
    """What contenders must have in common."""

    machine: str
    device: str
    network: str
    dataset: str
    batch: int
    precision: str
    data: str
    threads: int  # 0 on a GPU, where the host's threads decide nothing

    @property
    def place(self) -> Place:
        return self.machine, self.device

    def label(self) -> str:
        threads = f", {self.threads} thread{'s' if self.threads > 1 else ''}" if self.threads else ""
        data = "" if self.data == "synthetic" else f", {self.data} data"
        return f"{self.network}/{self.dataset}, batch {self.batch}, {self.precision}{threads}{data}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A framework's best result by one metric: the mean over those of its runs that have the figure."""

    result: Result
    mean: float
    runs: int

    @property
    def framework(self) -> str:
        return self.result.cell.framework

    @property
    def name(self) -> str:
        return look(self.framework).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """How many times better one is than another, with the 99.5 % interval; `doubt` is why one cannot tell."""

    ratio: float
    low: float | None = None
    high: float | None = None
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """The best of an arena against the next. `caveats` are what is weak about the winner."""

    arena: Arena
    metric: Metric
    first: Contender
    second: Contender
    odds: Odds
    caveats: tuple[str, ...] = ()

    @property
    def is_decided(self) -> bool:
        return not self.odds.doubt


@dataclass(slots=True)
class Contests:
    """Every arena with its two best contenders by each metric; results come one at a time, and few are kept."""

    best: dict[tuple[Arena, str], list[Contender]] = field(default_factory=dict)
    measured: set[Place] = field(default_factory=set)

    def add(self, result: Result) -> None:
        """Let a result take part. Instruments do not: one that computes nothing would always win."""
        if result.head is None or is_instrument(result.cell.framework):
            return
        arena = arena_of(result)
        self.measured.add(arena.place)
        runs = result.measured
        for metric in CONTESTED:
            if values := run_values(metric, runs):
                mean = result.head.value if metric is SPEED else fsum(values) / len(values)
                self._let_in(arena, metric, Contender(result=result, mean=mean, runs=len(values)))

    def places(self) -> list[Place]:
        """Where something was measured, the place with most contests first."""
        counts = Counter(arena.place for (arena, _), found in self.best.items() if len(found) > 1)
        return sorted(self.measured, key=lambda place: (-counts[place], place))

    def at(self, place: Place, metric: Metric) -> list[tuple[Arena, list[Contender]]]:
        """The arenas there in order, each with its best and, if there is one, the next."""
        found = [(arena, best) for (arena, name), best in self.best.items() if name == metric.name]
        return sorted((each for each in found if each[0].place == place), key=lambda each: each[0])

    def _let_in(self, arena: Arena, metric: Metric, contender: Contender) -> None:
        found = self.best.setdefault((arena, metric.name), [])
        found.append(contender)
        found[:] = _two_best(found, metric)


def contests_of(results: Iterable[Result]) -> Contests:
    """All of them at once."""
    contests = Contests()
    for result in results:
        contests.add(result)
    return contests


def arena_of(result: Result) -> Arena:
    cell = result.cell
    return Arena(
        machine=result.machine,
        device=cell.device,
        network=cell.network,
        dataset=cell.dataset,
        batch=cell.batch,
        precision=cell.precision,
        data=cell.data,
        threads=cell.threads if cell.device == "cpu" else 0,
    )


def is_instrument(framework: str) -> bool:
    """Netdyno's own; a name that no spec has is somebody's framework."""
    return _instruments().get(framework, False)


def proved_of(proofs: Iterable[Proof]) -> frozenset[Proved]:
    """What was proved equal, in whatever execution; a proof holds for the machine it was made on."""
    return frozenset(
        (proof.machine, proof.framework, proof.network, proof.dataset, proof.device, proof.precision)
        for proof in proofs
        if proof.passed
    )


def is_proved(result: Result, proved: Collection[Proved]) -> bool:
    cell = result.cell
    return (result.machine, cell.framework, cell.network, cell.dataset, cell.device, cell.precision) in proved


def fight(arena: Arena, metric: Metric, contenders: Sequence[Contender], proved: Collection[Proved]) -> Duel:
    """The better against the next."""
    first, second = contenders
    odds = _odds(first, second, metric)
    caveats = _weaknesses(first.result, proved)
    return Duel(arena=arena, metric=metric, first=first, second=second, odds=odds, caveats=caveats)


def _two_best(contenders: Sequence[Contender], metric: Metric) -> list[Contender]:
    """The two best of different frameworks, the better first."""
    ordered = sorted(contenders, key=lambda each: (each.mean, each.framework), reverse=metric.more_is_better)
    best: dict[str, Contender] = {}
    for each in ordered:
        best.setdefault(each.framework, each)
    return list(best.values())[:2]


def _odds(first: Contender, second: Contender, metric: Metric) -> Odds:
    """How many times better the first is, as `compare` sees it."""
    sides = (second.result, first.result) if metric.more_is_better else (first.result, second.result)
    question = question_of(sides, metric.compared)
    found = compare(*sides, question)
    if found.ratio is None:
        return Odds(ratio=1.0, doubt=found.reason)
    if found.low is None:
        return Odds(ratio=found.ratio, doubt=_too_few(first, second))
    doubts = {question.larger: "", EQUAL: "they are equal within 1 %"}
    doubt = doubts.get(found.verdict, "the interval holds 1")
    return Odds(ratio=found.ratio, low=found.low, high=found.high, doubt=doubt)


def _too_few(first: Contender, second: Contender) -> str:
    single = [f"{each.name} has one" for each in (first, second) if each.runs < 2]
    return f"two runs a side are needed, {' and '.join(single)}"


def _weaknesses(result: Result, proved: Collection[Proved]) -> tuple[str, ...]:
    weak = () if result.verdict == STEADY else (result.verdict,)
    return weak if is_proved(result, proved) else (*weak, "not proved equal")


@cache
def _instruments() -> Mapping[str, bool]:
    return {name: spec.is_instrument for name, spec in specs().items()}
