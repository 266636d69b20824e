"""What of two results is compared: a figure, the words for more and less of it, and how sure a single run is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from netdyno.errors import NetdynoError, unknown
from netdyno.results.figure import Figure
from netdyno.results.record import Record, Sample
from netdyno.results.result import Result
from netdyno.results.statistics import median_interval

MARGIN = 0.01  # differences under this may be called equal
# No machine repeats a figure more closely than this, however well a few runs happen to agree.
LEAST_ERROR = 1e-4
WIDTH_IN_ERRORS = 3.92  # a 95 % interval is that many standard errors wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which figure is compared, and which difference is small enough to be none. The words are those for a larger and
    a smaller figure; `worse` is the one that nobody wants, empty where neither is worse."""

    figure: str
    unit: str = ""
    larger: str = "more"
    smaller: str = "less"
    worse: str = ""
    margin: float = MARGIN

    @property
    def is_rate(self) -> bool:
        return self.larger == FASTER


FASTER, SLOWER = "faster", "slower"


def question_of(results: Iterable[Result], figure: str = "", margin: float = MARGIN) -> Question:
    """The question about a figure by its name, or about the headline that all of them have."""
    measured = [result for result in results if result.measured]
    heads = list(dict.fromkeys(result.headline for result in measured))
    if not figure and len(heads) > 1:
        message = f"expected results with one headline, received {' and '.join(sorted(heads))}."
        raise NetdynoError(message, hint="Name a figure: --figure NAME")
    name = figure or (heads[0] if heads else "")
    known = {each: one for result in measured for run in result.measured for each, one in run.figures.items()}
    if figure and known and figure not in known and not any(figure in result.absent for result in measured):
        raise unknown("figure", figure, known)
    return _question(known[name], margin) if name in known else Question(figure=name, margin=margin)


def error_of(figure: Figure, run: Record) -> float:
    """The standard error of the logarithm of a run's figure. Of a rate, the blocks say it; anything else is a single
    reading, and only other runs show how far to trust it."""
    if figure.per_step is None:
        return LEAST_ERROR
    interval = median_interval(run.samples) or _range(run.samples)
    return max(log(interval[1] / interval[0]) / WIDTH_IN_ERRORS, LEAST_ERROR)


def _question(figure: Figure, margin: float) -> Question:
    larger, smaller = ("more", "less") if figure.per_step is None else (FASTER, SLOWER)
    worse = {"more": smaller, "less": larger}.get(figure.better, "")
    return Question(figure=figure.name, unit=figure.unit, larger=larger, smaller=smaller, worse=worse, margin=margin)


def _range(samples: Sequence[Sample]) -> tuple[float, float]:
    """All that is known of too few blocks."""
    seconds = [sample.seconds_per_step for sample in samples]
    return min(seconds), max(seconds)
