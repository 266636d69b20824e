"""How a line is drawn: its band, its stroke, its points, and its name where it ends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netdyno.report.charts.axes import Axis
from netdyno.report.charts.marks import Band, Dot, Mark, Place, Stroke, Words, colour_of
from netdyno.report.charts.palette import look
from netdyno.report.charts.text import known, width_of
from netdyno.results.words import number

HEIGHT = 220
NAME_STEP = 14  # least distance in pixels between two names
WIDEST_NAME = 190
NAME_AT = 22  # pixels from the plot's edge
OLD_ERAS = ("2018", "last")  # dashed
MANY_POINTS = 40  # on one line: beyond, dots are left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A figure at a number of threads, a batch size, or a second (of training, or since 1970)."""

    x: float
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""  # what makes it weak


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A framework's points in their order. Several lines may have one name, such as trainings from several seeds."""

    framework: str
    points: tuple[Point, ...]
    name: str = ""  # as shown, if not as the framework is called

    @property
    def shown(self) -> str:
        return self.name or look(self.framework).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Where a point lies."""

    x: Axis
    y: Axis
    height: float

    def place(self, x: float, value: float) -> tuple[Place, float]:
        return Place(self.x.share(x)), self.down(value)

    def down(self, value: float) -> float:
        return self.height * (1 - self.y.share(value))


def values_of(lines: Sequence[Line]) -> list[float]:
    """Every number that must be inside the chart, including the ends of intervals."""
    return [value for line in lines for p in line.points for value in known(p.value, p.low, p.high)]


def height_of(lines: Sequence[Line]) -> float:
    """High enough for the names at the right."""
    return max(HEIGHT, NAME_STEP * len({line.shown for line in lines}))


def room_for_names(lines: Sequence[Line]) -> float:
    return min(WIDEST_NAME, max((width_of(line.shown) for line in lines), default=0)) + NAME_AT


def drawn(lines: Sequence[Line], plot: Plot) -> list[Mark]:
    """All lines, from the back to the front."""
    kept = [Line(framework=line.framework, name=line.name, points=_numbers(line)) for line in lines]
    kept = [line for line in kept if line.points]
    layers = (_band, _stroke, _dots)
    return [*(mark for draw in layers for line in kept for mark in draw(line, plot)), *_names(kept, plot)]


def _numbers(line: Line) -> tuple[Point, ...]:
    return tuple(point for point in line.points if known(point.value))


def _band(line: Line, plot: Plot) -> Iterator[Mark]:
    some = [(p.x, *known(p.low, p.high)) for p in line.points if len(known(p.low, p.high)) == 2]
    if len(some) > 1:
        lows, highs = ([plot.place(point[0], point[end]) for point in some] for end in (1, 2))
        yield Band(points=(*lows, *reversed(highs)), colour=colour_of(look(line.framework)))


def _stroke(line: Line, plot: Plot) -> Iterator[Mark]:
    own = look(line.framework)
    dashes = "5 3" if own.era in OLD_ERAS else ""
    points = tuple(plot.place(point.x, point.value) for point in line.points)
    yield Stroke(points=points, colour=colour_of(own), thick=1.8, dashes=dashes)


def _dots(line: Line, plot: Plot) -> Iterator[Mark]:
    own = colour_of(look(line.framework))
    for point in line.points:
        if point.note or len(line.points) <= MANY_POINTS:
            x, y = plot.place(point.x, point.value)
            yield Dot(x=x, y=y, colour=own, weak=bool(point.note), words=_words(line, point))


def _words(line: Line, point: Point) -> str:
    between = f" ({number(point.low)} to {number(point.high)})" if len(known(point.low, point.high)) == 2 else ""
    return f"{line.shown}: {number(point.value)}{between}" + (f"; weak: {point.note}" if point.note else "")


def _names(lines: Sequence[Line], plot: Plot) -> Iterator[Mark]:
    """At the right edge, as near to the ends of their lines as possible, connected to them by a thin line."""
    ends = {line.shown: line for line in lines}
    ordered = sorted(ends.values(), key=lambda line: plot.down(line.points[-1].value))
    wanted = [plot.down(line.points[-1].value) for line in ordered]
    for line, y in zip(ordered, _spread(wanted, plot.height), strict=True):
        own, end = colour_of(look(line.framework)), plot.place(line.points[-1].x, line.points[-1].value)
        tie = (end, (Place(1.0, 4), end[1]), (Place(1.0, NAME_AT - 8), y))
        dashes = "1 3" if end[0].share < 0.999 else ""  # otherwise it looks like a part of the line
        yield Stroke(points=tie, colour=own, thick=0.9, opacity=0.7, dashes=dashes)
        yield Dot(x=Place(1.0, NAME_AT - 7), y=y, colour=own, radius=3)
        yield Words(x=Place(1.0, NAME_AT), y=y, text=line.shown, until=Place(1.0, NAME_AT + WIDEST_NAME))


def _spread(wanted: Sequence[float], height: float) -> list[float]:
    """The same positions, top to bottom, moved as little as needed to keep names apart and inside the plot.

    Names that would overlap form a block, centred on the mean of their wanted positions.
    """
    blocks: list[tuple[float, int]] = []  # position of a block's first name minus the rows before it; number of names
    for index, place in enumerate(wanted):
        blocks.append((place - NAME_STEP * index, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (upper, many), (lower, few) = blocks[-2:]
            blocks[-2:] = [((upper * many + lower * few) / (many + few), many + few)]
    room = max(0.0, height - NAME_STEP * (len(wanted) - 1))
    starts = [min(max(start, 0.0), room) for start, count in blocks for _ in range(count)]
    return [start + NAME_STEP * index for index, start in enumerate(starts)]
