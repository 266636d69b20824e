"""Error against cost: points with a name each, intervals upward, and a value of the cost that is marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from netdyno.report.charts.axes import (
    TICK_ROOM,
    TITLE_ROOM,
    Axis,
    across,
    doubling_axis,
    linear_axis,
    room_left,
    upward,
)
from netdyno.report.charts.bars import nothing
from netdyno.report.charts.marks import INK, Chart, Dot, Mark, Place, Stroke, Words, colour_of
from netdyno.report.charts.palette import look
from netdyno.report.charts.strokes import NAME_STEP
from netdyno.report.charts.text import known, width_of
from netdyno.results.words import number

HEIGHT, ABOVE, EDGE = 240, 22, 8
WIDE = 1.5  # the largest cost over the smallest: from there on the axis is logarithmic
CAP = 3  # pixels of a whisker's end to each side
NARROW, STEPS = 200, 60  # pixels of a plot in which names must not meet; pairs of pixels that one may move
LETTER_GAP = 7  # pixels from a point to its name


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """What one training costs and how much it errs."""

    label: str
    framework: str
    cost: float
    error: float
    name: str = ""  # as shown beside the point; a point without one is named by its neighbour
    low: float | None = None
    high: float | None = None

    def words(self) -> str:
        between = f" ({number(self.low)} to {number(self.high)})" if len(known(self.low, self.high)) == 2 else ""
        return f"{self.label}, {look(self.framework).name}: {number(self.error)}{between} at {number(self.cost)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """A cost from which, or up to which, a rule advises."""

    cost: float
    text: str
    is_least: bool


def tradeoff_chart(
    lines: Sequence[Sequence[Trade]], *, title: str, axes: tuple[str, str], border: Border | None = None
) -> Chart:
    """The points of a line are joined in their order; `axes` are the titles of cost and error."""
    lines = [kept for line in lines if (kept := [one for one in line if isfinite(one.error) and one.cost > 0])]
    points = [one for line in lines for one in line]
    if not points:
        return nothing(title)
    x, y = _cost_axis(axes[0], points, border), _error_axis(axes[1], points)
    marks = [mark for line in lines for mark in _line(line, x, y)]
    return Chart(
        title=title,
        summary=f"{title}. {axes[1]} over {axes[0]}. {'; '.join(one.words() for one in points)}.",
        marks=(*across(x, HEIGHT), *upward(y, HEIGHT), *_border(border, x), *marks, *_labels(points, x, y)),
        height=HEIGHT,
        left=room_left(y) + EDGE,
        right=max(width_of(one.name) for one in points) + LETTER_GAP + EDGE,
        above=ABOVE,
        below=TICK_ROOM + TITLE_ROOM,
    )


def _cost_axis(title: str, points: Sequence[Trade], border: Border | None) -> Axis:
    costs = [one.cost for one in points] + ([border.cost] if border else [])
    if max(costs) > WIDE * min(costs):
        return doubling_axis(f"{title}, logarithmic", [float(f"{cost:.3g}") for cost in costs])
    return linear_axis(title, 0.0, max(costs))


def _error_axis(title: str, points: Sequence[Trade]) -> Axis:
    """From zero where that leaves differences visible. An interval that is much wider than they are is cut off."""
    errors = [one.error for one in points]
    least, most = min(errors), max(errors)
    reach = max(2 * (most - least), 0.2 * abs(most))
    values = [value for one in points for value in known(one.error, one.low, one.high)]
    low, high = max(min(values), least - reach), min(max(values), most + reach)
    spread = max(high - low, 0.02 * abs(high), 1e-12)
    if 0 <= low < high / 2:
        return linear_axis(title, 0.0, high)
    return linear_axis(f"{title}, not from zero", low - 0.1 * spread, high + 0.1 * spread)


def _line(line: Sequence[Trade], x: Axis, y: Axis) -> Iterator[Mark]:
    own = colour_of(look(line[0].framework))
    if len(line) > 1:
        points = tuple((Place(x.share(one.cost)), _down(y, one.error)) for one in line)
        yield Stroke(points=points, colour=own, thick=1.2, opacity=0.5)
    for one in line:
        at = Place(x.share(one.cost))
        for points in _whisker(one, at, y):
            yield Stroke(points=points, colour=own, thick=1.4)
        yield Dot(x=at, y=_down(y, one.error), colour=own, radius=4, words=one.words())


def _whisker(one: Trade, at: Place, y: Axis) -> Iterator[tuple[tuple[Place, float], ...]]:
    """From low to high inside the plot; an end that is outside has no cap."""
    ends = known(one.low, one.high)
    if len(ends) < 2:
        return
    low, high = (_down(y, min(max(end, y.low), y.high)) for end in ends)
    yield ((at, low), (at, high))
    for end in ends:
        if y.low <= end <= y.high:
            yield tuple((Place(at.share, side), _down(y, end)) for side in (-CAP, CAP))


def _labels(points: Sequence[Trade], x: Axis, y: Axis) -> Iterator[Mark]:
    """Right of each point, moved as little as possible where it would cover the name of a neighbour."""
    placed: list[tuple[float, float, float]] = []  # from and to, in shares of the width; pixels from the top
    for one in sorted((point for point in points if point.name), key=lambda each: _down(y, each.error)):
        start = x.share(one.cost)
        end = start + (LETTER_GAP + width_of(one.name)) / NARROW
        taken = [down for other, until, down in placed if start < until and other < end]
        down = _free(_down(y, one.error) - 1, taken)
        placed.append((start, end, down))
        yield Words(x=Place(start, LETTER_GAP), y=down, text=one.name, clear=True)


def _free(wanted: float, taken: Sequence[float]) -> float:
    """The nearest place inside the plot that is not taken; the wanted one where there is none."""
    near = sorted((wanted + 2 * step for step in range(-STEPS, STEPS + 1)), key=lambda place: abs(place - wanted))
    inside = (place for place in near if 4 <= place <= HEIGHT - 6)
    return next((place for place in inside if all(abs(place - other) >= NAME_STEP - 1 for other in taken)), wanted)


def _border(border: Border | None, axis: Axis) -> list[Mark]:
    """A vertical line, with its words on the side that is advised."""
    if border is None:
        return []
    share = axis.share(border.cost)
    line = Stroke(points=((Place(share), 0.0), (Place(share), HEIGHT)), colour=INK, dashes="4 3", opacity=0.7)
    text, anchor, gap = (f"{border.text} →", "start", 5) if border.is_least else (f"← {border.text}", "end", -5)
    return [line, Words(x=Place(share, gap), y=HEIGHT - 10, text=text, anchor=anchor, clear=True, faint=True)]


def _down(axis: Axis, value: float) -> float:
    return HEIGHT * (1 - axis.share(value))
