"""Which results are compared on the page, and how each comparison ends.

Only results with equal settings are compared: everything in their cells and the machine is the same, but for the
framework and its execution, of which each framework takes part with its best.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from netdyno.report.charts.palette import look
from netdyno.report.figures import run_values
from netdyno.report.names import is_instrument, short_name, unusual
from netdyno.report.vocabulary import Wording, page_wording
from netdyno.results.cell import Cell
from netdyno.results.compare.family import CANNOT_TELL, EQUAL
from netdyno.results.compare.pairs import compare
from netdyno.results.compare.question import question_of
from netdyno.results.proof import Proved
from netdyno.results.result import STEADY, Result

NOISE = "noise could explain the difference"
SAME = "they are equal within 1 %"
NOT_VERIFIED = "not verified"

Place = tuple[str, str]  # a machine and one of its devices


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Setting:
    """What two results must have in common to be compared."""

    machine: str
    device: str
    workload: str
    network: str
    dataset: str
    batch: int
    precision: str
    data: str
    threads: int  # 0 on a GPU, where the host's threads do not matter
    others: tuple[str, ...]  # fields that most cells leave at their defaults, in words

    @property
    def place(self) -> Place:
        return self.machine, self.device

    def label(self) -> str:
        threads = f", {self.threads} thread{'s' if self.threads > 1 else ''}" if self.threads else ""
        data = "" if self.data == "synthetic" else f", {self.data} data"
        others = "".join(f", {words}" for words in self.others)
        case = f"{short_name(self.network)}/{self.dataset}, batch {self.batch}, {self.precision}"
        return f"{case}{threads}{data}{others}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A framework's best result by one figure: the mean over the runs that have it."""

    result: Result
    figure: str
    mean: float

    @property
    def framework(self) -> str:
        return self.result.cell.framework

    @property
    def name(self) -> str:
        return look(self.framework).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """How many times better one is than another, with the 99.5 % interval; `doubt` is why no winner is named."""

    value: float
    low: float | None = None
    high: float | None = None
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The best of a setting against the next. `caveats` are the weaknesses of the winner's result."""

    setting: Setting
    wording: Wording
    first: Candidate
    second: Candidate
    ratio: Ratio
    caveats: tuple[str, ...] = ()

    @property
    def is_decided(self) -> bool:
        return not self.ratio.doubt

    @property
    def is_equal(self) -> bool:
        return self.ratio.doubt == SAME


@dataclass(slots=True)
class Contests:
    """Every setting with its two best candidates by each figure; results are added one at a time."""

    best: dict[tuple[Setting, str, str], list[Candidate]] = field(default_factory=dict)
    wordings: dict[tuple[str, str, str], Wording] = field(default_factory=dict)
    measured: set[Place] = field(default_factory=set)
    heads: set[tuple[str, str, str]] = field(default_factory=set)  # keys of wordings of main figures

    def add(self, result: Result) -> None:
        """Let a result take part. netdyno's own instruments do not: one that computes nothing would always win."""
        figures = result.figures
        if result.headline not in figures or is_instrument(result.cell.framework):
            return
        setting = setting_of(result.cell, result.machine)
        self.measured.add(setting.place)
        for name, estimate in figures.items():
            words = page_wording(setting.workload, name, estimate.unit, estimate.better)
            if name == result.headline:
                self.heads.add(words.key)
            if words.is_contested and (not words.is_detail or name == result.headline):
                mean = words.scale * estimate.value
                self._add(setting, words, Candidate(result=result, figure=name, mean=mean))

    def best_at(self, setting: Setting, words: Wording) -> float | None:
        """The best value with these settings, as it is shown; None where there is no better and worse."""
        found = self.best.get((setting, words.name, words.stored_unit))
        return found[0].mean if found else None

    def places(self) -> list[Place]:
        """Where something was measured, the place with most comparisons first."""
        counts = Counter(setting.place for (setting, *_), found in self.best.items() if len(found) > 1)
        return sorted(self.measured, key=lambda place: (-counts[place], place))

    def contested(self) -> list[Wording]:
        """The figures by which something is best, in the order in which they are shown."""
        return sorted(self.wordings.values(), key=lambda words: (words.workload, words.place, words.name))

    def at(self, place: Place, words: Wording) -> list[tuple[Setting, list[Candidate]]]:
        """The settings there in order, each with its best and, if there is one, the next."""
        found = [
            (setting, best)
            for (setting, name, unit), best in self.best.items()
            if setting.place == place and (setting.workload, name, unit) == words.key
        ]
        return sorted(found, key=lambda each: each[0])

    def _add(self, setting: Setting, words: Wording, candidate: Candidate) -> None:
        self.wordings.setdefault(words.key, words)
        found = self.best.setdefault((setting, words.name, words.stored_unit), [])
        if len(found) < 2 or not _is_worse(candidate, found[1], words):
            found[:] = _two_best([*found, candidate], words)


def contests_of(results: Iterable[Result]) -> Contests:
    """All of them at once."""
    contests = Contests()
    for result in results:
        contests.add(result)
    return contests


def setting_of(cell: Cell, machine: str) -> Setting:
    return Setting(
        machine=machine,
        device=cell.device,
        workload=cell.workload,
        network=cell.network,
        dataset=cell.dataset,
        batch=cell.batch,
        precision=cell.precision,
        data=cell.data,
        threads=cell.threads if cell.device == "cpu" else 0,
        others=unusual(cell),
    )


def rank(setting: Setting, words: Wording, best: Sequence[Candidate], proved: Proved) -> Ranking:
    """Compare the best with the next."""
    first, second = best
    ratio = _ratio(first, second, words)
    caveats = _weaknesses(first.result, proved)
    return Ranking(setting=setting, wording=words, first=first, second=second, ratio=ratio, caveats=caveats)


def _is_worse(candidate: Candidate, other: Candidate, words: Wording) -> bool:
    return candidate.mean < other.mean if words.more_is_better else candidate.mean > other.mean


def _two_best(candidates: Sequence[Candidate], words: Wording) -> list[Candidate]:
    """The two best of different frameworks, the better first."""
    ordered = sorted(candidates, key=lambda each: (each.mean, each.framework), reverse=words.more_is_better)
    best: dict[str, Candidate] = {}
    for each in ordered:
        best.setdefault(each.framework, each)
    return list(best.values())[:2]


def _ratio(first: Candidate, second: Candidate, words: Wording) -> Ratio:
    """How many times better the first is, by the statistics of `netdyno compare`."""
    sides = (second.result, first.result) if words.more_is_better else (first.result, second.result)
    found = compare(*sides, question_of(sides, words.name))
    if found.ratio is None:
        return Ratio(value=1.0, doubt=found.reason)
    if found.low is None:
        return Ratio(value=found.ratio, doubt=_too_few(first, second))
    is_better = found.verdict != CANNOT_TELL and found.ratio > 1
    doubt = SAME if found.verdict == EQUAL else "" if is_better else NOISE
    return Ratio(value=found.ratio, low=found.low, high=found.high, doubt=doubt)


def _too_few(first: Candidate, second: Candidate) -> str:
    single = [f"{each.name} has one" for each in (first, second) if len(run_values(each.result, each.figure)) < 2]
    return f"each needs two runs, {' and '.join(single)}"


def _weaknesses(result: Result, proved: Proved) -> tuple[str, ...]:
    weak = () if result.verdict == STEADY else (result.verdict,)
    return weak if proved.covers_result(result) else (*weak, NOT_VERIFIED)
