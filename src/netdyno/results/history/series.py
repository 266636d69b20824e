"""How a figure of a cell went over time: its series in order, where it stepped, and what changed there."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from netdyno.results.cell import Cell
from netdyno.results.compare.side import Side
from netdyno.results.history.changes import Change, changes
from netdyno.results.history.steps import FEWEST, Step, find_steps, smallest_step
from netdyno.results.record import Record
from netdyno.results.result import Result, results_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A step, the first result of its new level, and what was recorded differently from the one before."""

    step: Step
    result: Result
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The series of one cell on one machine, oldest first."""

    cell: Cell
    machine: str
    figure: str  # its name
    results: tuple[Result, ...]
    turns: tuple[Turn, ...]
    smallest: float | None  # ratio of a step that would just be found; None where none could

    @property
    def measured(self) -> tuple[Result, ...]:
        """Those with the figure."""
        return _with_figure(self.results, self.figure)

    @property
    def values(self) -> list[float]:
        """The figure of each of them."""
        return [result.figures[self.figure].value for result in self.measured]

    @property
    def can_tell(self) -> bool:
        return len(self.measured) >= FEWEST


def histories(records: Collection[Record], figure: str = "") -> list[History]:
    """A history of a figure, or of the headline, for each cell and machine, in order of cells."""
    return list(histories_of(results_of(records, every_series=True), figure))


def histories_of(results: Iterable[Result], figure: str = "") -> Iterator[History]:
    """The same of results of every series, in order of cells; those of one cell are in memory at a time."""
    for _, group in groupby(results, key=lambda result: (result.cell, result.machine)):
        yield _history(sorted(group, key=started_at), figure)


def started_at(result: Result) -> str:
    """When the first run of the series began; in UTC, so text sorts as time does."""
    return min(record.started_at for record in result.records)


def _history(results: list[Result], figure: str) -> History:
    figure = figure or results[-1].headline
    measured = _with_figure(results, figure)
    sides = [Side.of(result, figure, details=False) for result in measured]
    logs, variances = [side.mean for side in sides], [side.variance for side in sides]
    steps = find_steps(logs, variances)
    return History(
        cell=results[0].cell,
        machine=results[0].machine,
        figure=figure,
        results=tuple(results),
        turns=tuple(_turn(step, measured) for step in steps),
        smallest=None if steps else smallest_step(logs, variances),
    )


def _turn(step: Step, measured: tuple[Result, ...]) -> Turn:
    before, after = measured[step.index - 1], measured[step.index]
    return Turn(step=step, result=after, changes=changes(before, after))


def _with_figure(results: Iterable[Result], figure: str) -> tuple[Result, ...]:
    return tuple(result for result in results if figure in result.figures and result.figures[figure].value > 0)
