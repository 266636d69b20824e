"""Where a value lies on an axis, and which values get a tick: linear, logarithmic, doubling, or time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, floor, log, log10

from netdyno.report.charts.marks import INK, LEFT, RIGHT, Mark, Place, Stroke, Words
from netdyno.report.charts.text import tick_text, width_of

FAR_APART = 200.0  # largest over smallest: from there on an axis is logarithmic
GRID = 0.15  # opacity
TICK_ROOM, TITLE_ROOM = 16, 17  # pixels below the plot
HOUR_S, DAY_S = 3600, 86_400
_STEPS_S = tuple(HOUR_S * hours for hours in (1, 3, 6, 12)) + tuple(DAY_S * days for days in (1, 2, 7, 14))
_ROUND = ((1.41, 1), (3.16, 2), (7.07, 5))  # a step below the first number of its decade is rounded to the second
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """From `low` to `high`; each tick is a value and its text. A share is 0 at `low`, 1 at `high`."""

    title: str
    low: float
    high: float
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()

    def share(self, value: float) -> float:
        if self.is_log:
            return log(max(value, 1e-300) / self.low) / log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def far_apart(values: Sequence[float]) -> bool:
    """Whether the smallest would be invisible beside the largest on a linear axis."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > FAR_APART


def linear_axis(title: str, low: float, high: float) -> Axis:
    """Round ticks, about four of them: their texts have room in a narrow chart."""
    step = _round_step((high - low) / 4)
    values = [step * index for index in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
    return Axis(title=title, low=low, high=high, ticks=tuple((v, tick_text(v, abs(high))) for v in values))


def decade_axis(title: str, low: float, high: float) -> Axis:
    """Whole decades, each with a tick; every second or third where there are many."""
    first, last = floor(log10(low)), max(ceil(log10(high) - 1e-9), floor(log10(low)) + 1)
    values = [10.0**power for power in range(first, last + 1, ceil((last - first) / 6))]
    ticks = tuple((value, tick_text(value, high)) for value in values)
    return Axis(title=f"{title}, logarithmic", low=10.0**first, high=10.0**last, is_log=True, ticks=ticks)


def doubling_axis(title: str, values: Sequence[float]) -> Axis:
    """Threads or batch sizes on a logarithmic axis; ticks where something was measured."""
    low, high = min(values), max(max(values), 2 * min(values))
    axis = Axis(title=title, low=low, high=high, is_log=True)
    kept: list[float] = []
    for value in sorted(set(values)):
        if not kept or axis.share(value) - axis.share(kept[-1]) > 0.06:
            kept.append(value)
    return Axis(title=title, low=low, high=high, is_log=True, ticks=tuple((v, tick_text(v, 0)) for v in kept))


def time_axis(first_s: float, last_s: float) -> Axis:
    """Seconds since 1970, with ticks at round hours, days or months of UTC."""
    last_s = max(last_s, first_s + HOUR_S)
    step = next((step for step in _STEPS_S if (last_s - first_s) / step <= 6), None)
    ticks = _months(first_s, last_s) if step is None else _even(first_s, last_s, step)
    return Axis(title="", low=first_s, high=last_s, ticks=tuple(ticks))


def across(axis: Axis, height: float) -> list[Mark]:
    """Lines from top to bottom, the ticks' texts below them, and the title."""
    marks: list[Mark] = []
    for value, text in axis.ticks:
        x = Place(axis.share(value))
        marks.append(Stroke(points=((x, 0.0), (x, height)), colour=INK, opacity=GRID))
        marks.append(Words(x=x, y=height + 10, text=text, anchor="middle", faint=True))
    if axis.title:
        marks.append(Words(x=LEFT, y=height + TICK_ROOM + 10, text=axis.title, until=Place(1.0, 60)))
    return marks


def upward(axis: Axis, height: float) -> list[Mark]:
    """Lines from side to side, the ticks' texts left of them, the title above, horizontal."""
    marks: list[Mark] = []
    for value, text in axis.ticks:
        y = height * (1 - axis.share(value))
        marks.append(Stroke(points=((LEFT, y), (RIGHT, y)), colour=INK, opacity=GRID))
        marks.append(Words(x=Place(0.0, -6), y=y, text=text, anchor="end", faint=True))
    return [*marks, Words(x=Place(0.0, -room_left(axis)), y=-15, text=axis.title, until=RIGHT)]


def room_left(axis: Axis) -> float:
    """Pixels that the texts of an upward axis take."""
    return 8 + max((width_of(text) for _, text in axis.ticks), default=0)


def _round_step(step: float) -> float:
    """The nearest of 1, 2, 5 and 10 of its decade."""
    decade = 10.0 ** floor(log10(step))
    return decade * next((factor for limit, factor in _ROUND if step / decade < limit), 10)


def _even(first_s: float, last_s: float, step: int) -> list[tuple[float, str]]:
    values = [step * index for index in range(ceil(first_s / step), floor(last_s / step) + 1)]
    days = [datetime.fromtimestamp(value, UTC) for value in values]
    return [
        (v, f"{d:%H:%M}" if step < DAY_S and d.hour else f"{d.day} {d:%b}") for v, d in zip(values, days, strict=True)
    ]


def _months(first_s: float, last_s: float) -> list[tuple[float, str]]:
    first, last = (datetime.fromtimestamp(value, UTC) for value in (first_s, last_s))
    months = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
    step = next((step for step in _MONTHS if len(months) / step <= 6), _MONTHS[-1])
    starts = [datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC) for month in months if month % step == 0]
    return [(day.timestamp(), f"{day:%b %Y}") for day in starts if day.timestamp() >= first_s]
