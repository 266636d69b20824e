"""Bars with whiskers: one figure of several frameworks, on several devices or with several settings.

Where values differ too much for bars, they are dots on a logarithmic axis, where a bar's length means nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from netdyno.report.charts.axes import TICK_ROOM, TITLE_ROOM, Axis, across, decade_axis, far_apart, linear_axis
from netdyno.report.charts.marks import BLANK, INK, LEFT, Chart, Dot, Mark, Place, Rectangle, Stroke, Words, colour_of
from netdyno.report.charts.palette import look
from netdyno.report.charts.text import known, width_of
from netdyno.results.words import number

ROW, HEADING, GAP = 19, 20, 8  # pixels
THICK = 13
WIDEST_NAME = 185
EDGE = 8
SEEN = 0.008  # of the axis; shorter whiskers are left out
WEAK = "{}: a weak measurement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One figure. Without a value, `note` is the reason; with one, `note` is what makes it weak, if anything does."""

    group: str  # heading of the bars it is compared with; empty where there is one group
    framework: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    name: str = ""  # as shown, if not as the framework is called

    @property
    def shown(self) -> str:
        return self.name or look(self.framework).name

    @property
    def is_weak(self) -> bool:
        return bool(known(self.value)) and bool(self.note)


def bar_chart(bars: Sequence[Bar], *, title: str, axis: str, least_first: bool = False) -> Chart:
    """Groups in the given order; in each the largest value first, or the least where less is better, missing ones
    last."""
    groups: dict[str, list[Bar]] = {}
    for bar in bars:
        groups.setdefault(bar.group, []).append(bar)
    ordered = {group: sorted(found, key=lambda bar: _order(bar, least_first)) for group, found in groups.items()}
    return _chart(ordered, title, axis)


def then_and_now(pairs: Sequence[tuple[Bar, Bar]], *, title: str, axis: str) -> Chart:
    """The same family in an old and a new version, with the ratio of the new figure to the old one."""
    groups: dict[str, list[Bar]] = {}
    for then, now in pairs:
        group = f"{now.group or look(now.framework).family}{_ratio(then, now)}"
        groups.setdefault(group, []).extend(replace(bar, group=group) for bar in (then, now))
    return _chart(groups, title, axis)


def nothing(title: str) -> Chart:
    """The chart where there is no figure."""
    words = Words(x=LEFT, y=10, text="nothing measured", italic=True, faint=True)
    return Chart(title=title, summary=f"{title}: nothing measured.", marks=(words,), height=20, left=EDGE, right=EDGE)


def in_words(bar: Bar) -> str:
    """The text of a bar for screen readers and tooltips."""
    where = f"{bar.shown}, {bar.group}" if bar.group else bar.shown
    if not known(bar.value):
        return f"{where}: {_hole(bar)}"
    between = f" ({number(bar.low)} to {number(bar.high)})" if len(known(bar.low, bar.high)) == 2 else ""
    return f"{where}: {number(bar.value)}{between}" + (f"; weak: {bar.note}" if bar.note else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A bar, or the heading of a group, and the middle of its row."""

    y: float
    bar: Bar | None = None
    heading: str = ""


def _order(bar: Bar, least_first: bool) -> tuple[float, int, str]:
    """Equal values and missing ones in the order that frameworks have everywhere."""
    (value,) = known(bar.value) or [inf if least_first else -inf]
    return value if least_first else -value, look(bar.framework).order, bar.shown


def _rows(groups: dict[str, list[Bar]]) -> Iterator[_Row]:
    y = 0.0
    for group, bars in groups.items():
        if group:
            y += GAP if y else 0
            yield _Row(y=y + HEADING / 2, heading=group)
            y += HEADING
        for bar in bars:
            yield _Row(y=y + ROW / 2, bar=bar)
            y += ROW


def _chart(groups: dict[str, list[Bar]], title: str, axis_title: str) -> Chart:
    rows = list(_rows(groups))
    if not rows:
        return nothing(title)
    bars = [row.bar for row in rows if row.bar]
    axis = _axis(axis_title, bars)
    height = rows[-1].y + ROW / 2
    left = EDGE + 7 + min(WIDEST_NAME, max(width_of(bar.shown) for bar in bars))
    right = 18 + max((width_of(number(bar.value)) for bar in bars if known(bar.value)), default=0.0)
    marks = [*(across(axis, height) if axis else []), *_texts(rows, left, right)]
    for row in rows:
        if row.bar and axis and known(row.bar.value):
            marks += _figure(row.y, row.bar, axis)
    return Chart(
        title=title,
        summary=f"{title}. {axis_title}. {'; '.join(map(in_words, bars))}.",
        marks=(*marks, *_footer(bars, axis, height, left)),
        height=height,
        left=left,
        right=right,
        below=(TICK_ROOM + TITLE_ROOM if axis else 0) + (TITLE_ROOM if any(bar.is_weak for bar in bars) else 0),
    )


def _axis(title: str, bars: Sequence[Bar]) -> Axis | None:
    values = [bar.value for bar in bars if bar.value is not None and known(bar.value)]
    ends = [end for bar in bars if known(bar.value) for end in known(bar.value, bar.low, bar.high) if end > 0]
    if not values:
        return None
    if far_apart(values):
        return decade_axis(title, min(ends), max(ends))
    return linear_axis(title, 0.0, max(ends, default=1.0))


def _figure(y: float, bar: Bar, axis: Axis) -> list[Mark]:
    """The bar or the dot, its whisker, its number."""
    value, ends = known(bar.value)[0], sorted(known(bar.low, bar.high))
    own = colour_of(look(bar.framework))
    end = Place(axis.share(value))
    whisker = _whisker(y, axis, ends) if len(ends) == 2 else []
    text = Words(x=Place(axis.share(max([value, *ends])), 8), y=y, text=number(value))
    if axis.is_log:
        line = Stroke(points=((LEFT, y), (end, y)), colour=INK, opacity=0.3, dashes="1 3")
        return [line, *whisker, Dot(x=end, y=y, colour=own, radius=4.5, weak=bar.is_weak, words=in_words(bar)), text]
    top, bottom = y - THICK / 2, y + THICK / 2
    shape = Rectangle(start=LEFT, end=end, top=top, bottom=bottom, colour=own, weak=bar.is_weak, words=in_words(bar))
    return [shape, *whisker, text]


def _whisker(y: float, axis: Axis, ends: Sequence[float]) -> list[Mark]:
    """From low to high with caps, with a blank outline so that it is visible on a dark bar too."""
    low, high = (Place(max(0.0, axis.share(end))) for end in ends)
    if high.share - low.share < SEEN:
        return []
    strokes = [Stroke(points=((low, y), (high, y)), colour=BLANK, thick=4)]
    strokes += [Stroke(points=((low, y), (high, y)), colour=INK, thick=1.2)]
    strokes += [Stroke(points=((end, y - 3), (end, y + 3)), colour=INK, thick=1.2) for end in (low, high)]
    return list(strokes)


def _texts(rows: Iterable[_Row], left: float, right: float) -> Iterator[Mark]:
    start, beyond = Place(0.0, EDGE - left), Place(1.0, right - EDGE)
    for row in rows:
        if row.bar is None:
            yield Words(x=start, y=row.y, text=row.heading, bold=True, clear=True, until=beyond)
            continue
        yield Words(x=Place(0.0, -6), y=row.y, text=row.bar.shown, anchor="end", until=start)
        if not known(row.bar.value):
            yield Words(
                x=Place(0.0, 4), y=row.y, text=_hole(row.bar), italic=True, faint=True, clear=True, until=beyond
            )


def _footer(bars: Sequence[Bar], axis: Axis | None, height: float, left: float) -> list[Mark]:
    if axis is None or not any(bar.is_weak for bar in bars):
        return []
    text = WEAK.format("hollow" if axis.is_log else "dashed")
    return [Words(x=Place(0.0, EDGE - left), y=height + TICK_ROOM + TITLE_ROOM + 10, text=text, faint=True)]


def _hole(bar: Bar) -> str:
    return f"not measured: {bar.note}" if bar.note else "not measured"


def _ratio(then: Bar, now: Bar) -> str:
    if not then.value or not known(then.value, now.value) or now.value is None:
        return ""
    return f": × {now.value / then.value:.3g}"
