"""What a comparison keeps of a result: of each run one value, and how well it is known. Never the runs themselves, so
that all of a large store can be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np

from netdyno.results.cell import Cell
from netdyno.results.figure import Estimate, Figure
from netdyno.results.history.changes import recorded
from netdyno.results.record import Record, Sample
from netdyno.results.result import Result
from netdyno.results.statistics import median_interval, value_of

# No machine repeats a figure more closely than this, however well a few runs happen to agree.
LEAST_ERROR = 1e-4
WIDTH_IN_ERRORS = 3.92  # a 95 % interval is that many standard errors wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A result in one figure: the mean logarithm of its runs, and the variance of that mean."""

    cell: Cell
    machine: str
    series: int
    ids: tuple[str, ...]  # of all its runs
    verdict: str
    headline: str
    is_measured: bool
    names: tuple[str, ...]  # of every figure that its runs have
    figure: Figure | None = None  # as the last run that has it says
    values: tuple[float, ...] = ()  # of the runs that have it
    runs: int = 0  # whose values are over 0
    mean: float = 0.0
    variance: float = 0.0
    source: str = ""  # which reading the figure is
    missing: str = ""  # the figure that measured runs lack
    absent: str | None = None  # why they lack it, where they say so
    estimate: Estimate | None = None
    recorded: Mapping[str, str] = field(default_factory=dict)  # versions, settings, the machine

    @classmethod
    def of(cls, found: "Result | Side", figure: str = "", *, details: bool = True) -> "Side":
        """By the figure of that name, or the headline. Verdicts need no `details`: the estimate and what was
        recorded."""
        if isinstance(found, Side):
            return found
        name = figure or found.headline
        measured = found.measured
        having = [(run, run.figures[name]) for run in measured if name in run.figures]
        valued = [(run, one, value_of(one, run)) for run, one in having]
        usable = [(run, one, value) for run, one, value in valued if value > 0]
        logs = [log(value) for *_, value in usable]
        return cls(
            cell=found.cell,
            machine=found.machine,
            series=found.series,
            ids=tuple(run.id for run in found.records),
            verdict=found.verdict,
            headline=found.headline,
            is_measured=bool(measured),
            names=tuple(found.figures),
            figure=having[-1][1] if having else None,
            values=tuple(value for *_, value in valued),
            runs=len(usable),
            mean=sum(logs) / len(logs) if logs else 0.0,
            variance=_variance(logs, [(run, one) for run, one, _ in usable]) / len(logs) if logs else 0.0,
            source=usable[0][1].source if usable else "",
            missing=name if measured and not usable else "",
            absent=found.absent.get(name),
            estimate=found.figures.get(name) if details else None,
            recorded=recorded(found) if details else {},
        )


def error_of(figure: Figure, run: Record) -> float:
    """The standard error of the logarithm of a run's figure. Of a rate, the blocks say it; anything else is a single
    reading, and only other runs show how far to trust it."""
    if figure.per_step is None:
        return LEAST_ERROR
    interval = median_interval(run.samples) or _range(run.samples)
    return max(log(interval[1] / interval[0]) / WIDTH_IN_ERRORS, LEAST_ERROR)


def _variance(logs: Sequence[float], figures: Sequence[tuple[Record, Figure]]) -> float:
    """Of a run: the spread between runs, but not less than the error that each run has by itself.

    The spread holds that error already, so it is no addition; but runs that agree by luck would make it vanish.
    """
    within = sum(error_of(figure, record) ** 2 for record, figure in figures) / len(figures)
    return max(float(np.var(logs, ddof=1)), within) if len(logs) > 1 else within


def _range(samples: Sequence[Sample]) -> tuple[float, float]:
    """All that is known of too few blocks."""
    seconds = [sample.seconds_per_step for sample in samples]
    return min(seconds), max(seconds)
