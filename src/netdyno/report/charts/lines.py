"""Lines with bands: a figure over threads or batch sizes, accuracy over time, a cell's history.

The name of a line is at its end, so that no legend is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import floor

from netdyno.report.charts.axes import (
    TICK_ROOM,
    TITLE_ROOM,
    Axis,
    across,
    decade_axis,
    doubling_axis,
    far_apart,
    linear_axis,
    room_left,
    time_axis,
    upward,
)
from netdyno.report.charts.bars import nothing
from netdyno.report.charts.marks import INK, LEFT, RIGHT, Chart, Mark, Place, Stroke, Words
from netdyno.report.charts.strokes import Line, Plot, Point, drawn, height_of, room_for_names, values_of
from netdyno.results.words import number

__all__ = ["Level", "Line", "Point", "Step", "history_chart", "learning_chart", "scaling_chart"]

EDGE = 8
ABOVE = 22  # pixels, for the title of the upward axis
STEP_ROWS, STEP_ROW = 3, 14  # rows of words at steps, and the height of one in pixels
STEP_ROOM = 0.35  # of the range of the values, above the line, for these words


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A change in a history: its time, and a few words about its cause."""

    at: datetime
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A value that lines are compared with, such as what is reached without a network."""

    name: str
    value: float


def scaling_chart(lines: Sequence[Line], *, title: str, x_axis: str, y_axis: str) -> Chart:
    """Over threads or batch sizes; from zero, so that twice as fast is twice as high, or else logarithmic."""
    values = values_of(lines)
    if not values:
        return nothing(title)
    x = doubling_axis(x_axis, [point.x for line in lines for point in line.points])
    y = decade_axis(y_axis, min(values), max(values)) if far_apart(values) else _from_zero(y_axis, max(values))
    return _chart(lines, x, y, title)


def learning_chart(
    lines: Sequence[Line],
    *,
    title: str,
    y_axis: str = "accuracy",
    goal: float | None = None,
    levels: Sequence[Level] = (),
) -> Chart:
    """Accuracy (0 to 1), or a loss, over seconds of training, with the goal and levels to compare with."""
    values = values_of(lines)
    if not values:
        return nothing(title)
    values += [level.value for level in levels]
    longest = max(point.x for line in lines for point in line.points)
    y = _shares(y_axis, min(values)) if y_axis == "accuracy" else _around(y_axis, values)
    chart = _chart(lines, _from_zero("seconds of training", longest), y, title)
    chart = _with(chart, _levels(levels, y, chart.height), _level_texts(levels))
    return chart if goal is None else _with(chart, _goal(goal, y, chart.height))


def _shares(title: str, lowest: float) -> Axis:
    """Up to all."""
    plain = linear_axis(title, min(floor(20 * lowest) / 20, 0.95), 1.0)
    ticks = tuple((value, f"{100 * value:.4g} %") for value, _ in plain.ticks)
    return Axis(title=plain.title, low=plain.low, high=plain.high, ticks=ticks)


def _around(title: str, values: Sequence[float]) -> Axis:
    """Not from zero: what a loss can be at best is not known."""
    spread = max(max(values) - min(values), 0.02 * abs(max(values)), 1e-12)
    return linear_axis(f"{title}, not from zero", min(values) - 0.1 * spread, max(values) + 0.1 * spread)


def history_chart(line: Line, steps: Sequence[Step], *, title: str, y_axis: str) -> Chart:
    """One cell over time, not from zero, so that a change of one percent is visible. `x` is seconds since 1970."""
    values = values_of([line])
    if not values:
        return nothing(title)
    times = [*(point.x for point in line.points), *(step.at.timestamp() for step in steps)]
    spread = max(max(values) - min(values), 0.02 * abs(max(values)), 1e-12)
    room = 0.1 + (STEP_ROOM if steps else 0.0)
    y = linear_axis(f"{y_axis}, not from zero", min(values) - 0.1 * spread, max(values) + room * spread)
    x = time_axis(min(times), max(times))
    chart = _chart([line], x, y, title)
    return _with(chart, [mark for index, step in enumerate(steps) for mark in _step(index, step, x, chart.height)])


def _chart(lines: Sequence[Line], x: Axis, y: Axis, title: str) -> Chart:
    height = height_of(lines)
    left = room_left(y)
    return Chart(
        title=title,
        summary=_sentence(title, y, lines),
        marks=(*across(x, height), *upward(y, height), *drawn(lines, Plot(x=x, y=y, height=height))),
        height=height,
        left=left + EDGE,
        right=room_for_names(lines) + EDGE,
        above=ABOVE,
        below=TICK_ROOM + (TITLE_ROOM if x.title else 0),
    )


def _from_zero(title: str, highest: float) -> Axis:
    return linear_axis(title, 0.0, highest if highest > 0 else 1.0)


def _with(chart: Chart, marks: Sequence[Mark], texts: Sequence[str] = ()) -> Chart:
    return replace(chart, marks=(*chart.marks, *marks), summary=" ".join([chart.summary, *texts]))


def _levels(levels: Sequence[Level], axis: Axis, height: float) -> list[Mark]:
    """Dashed lines, each with its name in the middle, where learning curves seldom end."""
    marks: list[Mark] = []
    for level in levels:
        y = height * (1 - axis.share(level.value))
        marks.append(Stroke(points=((LEFT, y), (RIGHT, y)), colour=INK, dashes="2 3", opacity=0.7))
        text = f"{level.name} {number(level.value)}"
        marks.append(Words(x=Place(0.5), y=y - 8, text=text, anchor="middle", clear=True, faint=True))
    return marks


def _level_texts(levels: Sequence[Level]) -> list[str]:
    return [f"{level.name}: {number(level.value)}." for level in levels]


def _goal(goal: float, axis: Axis, height: float) -> list[Mark]:
    y = height * (1 - axis.share(goal))
    line = Stroke(points=((LEFT, y), (RIGHT, y)), colour=INK, dashes="4 3", opacity=0.7)
    return [line, Words(x=Place(1.0, -4), y=y + 12, text=f"goal {100 * goal:.4g} %", anchor="end", clear=True)]


def _step(index: int, step: Step, axis: Axis, height: float) -> list[Mark]:
    """A vertical line with its words at the top, in alternating rows so that neighbours do not overlap."""
    share = axis.share(step.at.timestamp())
    line = Stroke(points=((Place(share), 0.0), (Place(share), height)), colour=INK, dashes="2 3", opacity=0.7)
    y = 6 + STEP_ROW * (index % STEP_ROWS)
    if share > 0.6:
        return [line, Words(x=Place(share, -4), y=y, text=step.note, anchor="end", clear=True, until=LEFT)]
    return [line, Words(x=Place(share, 4), y=y, text=step.note, clear=True, until=RIGHT)]


def _sentence(title: str, axis: Axis, lines: Sequence[Line]) -> str:
    texts = [_range_text(line) for line in lines if line.points]
    return f"{title}. {axis.title}. {'; '.join(texts)}."


def _range_text(line: Line) -> str:
    first, last = line.points[0], line.points[-1]
    return f"{line.shown}: from {number(first.value)} to {number(last.value)} in {len(line.points)} points"
