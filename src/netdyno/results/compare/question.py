"""What of two results is compared: a figure, and the words for more and less of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from netdyno.errors import NetdynoError, unknown
from netdyno.results.compare.side import Side
from netdyno.results.figure import Figure
from netdyno.results.result import Result

MARGIN = 0.01  # differences under this may be called equal


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


def question_of(found: Iterable[Result | Side], figure: str = "", margin: float = MARGIN) -> Question:
    """The question about a figure by its name, or about the headline that all of them have."""
    measured = [side for side in (Side.of(one, figure, details=False) for one in found) if side.is_measured]
    heads = list(dict.fromkeys(side.headline for side in measured))
    if not figure and len(heads) > 1:
        message = f"expected results with one headline, received {' and '.join(sorted(heads))}."
        raise NetdynoError(message, hint="Name a figure: --figure NAME")
    known = {name for side in measured for name in side.names}
    if figure and known and figure not in known and all(side.absent is None for side in measured):
        raise unknown("figure", figure, known)
    having = [side.figure for side in measured if side.figure is not None]
    return _question(having[-1], margin) if having else Question(figure=figure or "".join(heads), margin=margin)


def _question(figure: Figure, margin: float) -> Question:
    larger, smaller = ("more", "less") if figure.per_step is None else (FASTER, SLOWER)
    worse = {"more": smaller, "less": larger}.get(figure.better, "")
    return Question(figure=figure.name, unit=figure.unit, larger=larger, smaller=smaller, worse=worse, margin=margin)
