"""Which runs are still to be made, in which order, and about how long they take."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netdyno.bench.settings import Settings
from netdyno.results.cell import Cell
from netdyno.results.store import Basis, Finished

START_S = 10.0  # a guess for starting a process, importing a framework and building, until a run has shown it
BAD = ("failed", "crashed", "timed out")

History = Mapping[str, Sequence[Finished]]
"""What is finished of each cell, by its key, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """Run `number` of a cell's series."""

    cell: Cell
    series: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Runs in the order in which they are made, and how many were finished before."""

    runs: tuple[PlannedRun, ...]
    finished: int
    renewed: Mapping[str, int] = field(default_factory=dict)  # cells that begin a new series, by what differs


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """When a cell's finished runs do not count: to be repeated, failed and to be retried, or on another basis."""

    again: bool
    retry: bool
    bases: Mapping[Cell, Basis]
    continued: Mapping[Cell, int] = field(default_factory=dict)  # series to go on with, where it is not the last

    def wanted(self, cell: Cell, done: Sequence[Finished], runs: int) -> bool:
        """Whether to begin a new series. One that --again began and that was cut off is continued."""
        failed = any(run.outcome in BAD for run in done)
        changed = bool(self.differences(cell, done))
        return changed or (self.retry and failed) or (self.again and len(done) >= runs)

    def differences(self, cell: Cell, done: Sequence[Finished]) -> list[str]:
        """In what the runs that are done differ from those to come; what a run does not say is no difference."""
        basis = self.bases[cell]
        return [name for name in basis if any(run.basis.get(name, basis[name]) != basis[name] for run in done)]


def make_plan(cells: Sequence[Cell], settings: Settings, history: History, renewal: Renewal) -> Plan:
    """Rounds over all cells, each round in its own seeded random order, so that drift favours nobody."""
    missing = [_missing(cell, settings.runs, history.get(cell.key(), ()), renewal) for cell in cells]
    order = random.Random(settings.seed)
    runs: list[PlannedRun] = []
    for round_number in range(settings.runs):
        ready = [numbers[round_number] for numbers in missing if round_number < len(numbers)]
        order.shuffle(ready)
        runs += ready
    found = [renewal.differences(cell, _last_series(cell, history.get(cell.key(), ()), renewal)[1]) for cell in cells]
    renewed = Counter(name for names in found for name in names)
    return Plan(runs=tuple(runs), finished=len(cells) * settings.runs - len(runs), renewed=renewed)


def expected_s(run: PlannedRun, settings: Settings, history: History) -> float:
    """Seconds the run will take: as long as the cell's last one, or a guess."""
    earlier = history.get(run.cell.key(), ())
    return earlier[-1].took_s if earlier else START_S + 2 * settings.seconds


def _missing(cell: Cell, runs: int, finished: Sequence[Finished], renewal: Renewal) -> list[PlannedRun]:
    """What the series worked at last lacks, or the whole of a new one."""
    series, done = _last_series(cell, finished, renewal)
    if done and renewal.wanted(cell, done, runs):
        series, done = max(run.series for run in finished) + 1, []
    numbers = set(range(1, runs + 1)) - {run.number for run in done}
    return [PlannedRun(cell=cell, series=series, number=number) for number in sorted(numbers)]


def _last_series(cell: Cell, finished: Sequence[Finished], renewal: Renewal) -> tuple[int, list[Finished]]:
    """The series that was worked at last, or is to be gone on with, and its runs."""
    series = renewal.continued.get(cell, finished[-1].series if finished else 1)
    return series, [run for run in finished if run.series == series]
