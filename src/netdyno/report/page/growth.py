"""What more threads or a larger batch bring, and what the years brought: which rows make a line or a pair."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from netdyno.report.charts import Bar, Chart, Line, Point, scaling_chart, then_and_now
from netdyno.report.charts.palette import look
from netdyno.report.page.bars import different, row_key
from netdyno.report.page.metrics import SPEED
from netdyno.report.page.rows import Row

MOST_LINES = 10  # of one chart
MOST_ARENAS = 4  # of then and now: manners of running that are drawn
THEN, NOW = "2018", "today"

Drawn = tuple[str, Chart, str]  # title, chart, caption
K = TypeVar("K", bound=Hashable)
Key = tuple[str | int, ...]


def growth_charts(rows: Sequence[Row], where: str) -> Iterator[Drawn]:
    """Speed over threads on a CPU, and over the batch, wherever a framework was measured at two or more."""
    keys: Mapping[str, Callable[[Row], Key]] = {"threads": _but_threads, "batch": _but_batch}
    for field, key in keys.items():
        candidates = [row for row in rows if field == "batch" or row.cell.device == "cpu"]
        if lines := _longest(candidates, field, key):
            yield _drawn(lines, field, where)


def then_and_now_chart(rows: Sequence[Row], where: str) -> Iterator[Drawn]:
    """A family's version of 2018 beside today's, where both were measured alike: the fastest execution of each."""
    arenas = {key: rivals for key, found in _grouped(rows, row_key).items() if (rivals := list(_pairs(found)))}
    chosen = sorted(arenas, key=lambda key: (-len(arenas[key]), key))[:MOST_ARENAS]
    labels = different(chosen)
    pairs = [(_bar(then, labels[key]), _bar(now, labels[key])) for key in chosen for then, now in arenas[key]]
    if pairs:
        chart = then_and_now(pairs, title=f"Then and now, {where}", axis=SPEED.unit)
        caption = "The version of 2018 beside today's, on the same machine and in the same manner; × is new over old."
        yield "Then and now, images/s", chart, caption


def _longest(rows: Sequence[Row], field: str, key: Callable[[Row], Key]) -> list[list[Row]]:
    """The rows of each line, of whichever group has most of them; nothing where no line has two points."""
    groups = [
        [found for found in _grouped(group, _name).values() if len(_at(found, field)) > 1]
        for group in _grouped(rows, key).values()
    ]
    return sorted(max(groups, key=lambda lines: sum(map(len, lines)), default=[]), key=lambda line: -len(line))


def _drawn(lines: Sequence[Sequence[Row]], field: str, where: str) -> Drawn:
    drawn = [_line(rows, field) for rows in lines[:MOST_LINES]]
    chart = scaling_chart(drawn, title=f"Speed over {field}, {where}", x_axis=field, y_axis=SPEED.unit)
    first = lines[0][0]
    fixed = f"batch {first.cell.batch}" if field == "threads" else ""
    fixed = f"{first.cell.threads} threads" if field == "batch" and first.cell.device == "cpu" else fixed
    told = ", ".join(filter(None, (first.place, first.cell.precision, fixed)))
    more = f" {len(lines) - MOST_LINES} lines more are in the table." if len(lines) > MOST_LINES else ""
    return f"Speed over {field}, {SPEED.unit}", chart, f"{told}.{more}"


def _line(rows: Sequence[Row], field: str) -> Line:
    points = []
    for at, found in sorted(_at(rows, field).items()):
        figure = max((row.figures["speed"] for row in found), key=lambda figure: figure.value or 0.0)
        weak = next((row.verdict for row in found if row.is_weak), "") or next((row.crowding for row in found), "")
        points.append(Point(x=at, value=figure.value or 0.0, low=figure.low, high=figure.high, note=weak))
    return Line(framework=rows[0].cell.framework, name=_name(rows[0])[1], points=tuple(points))


def _at(rows: Iterable[Row], field: str) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(getattr(row.cell, field), []).append(row)
    return found


def _pairs(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Of each family the fastest of 2018 and the fastest of today."""
    for _, members in sorted(_grouped(rows, lambda row: (look(row.cell.framework).family,)).items()):
        best = {
            when: _fastest([row for row in members if look(row.cell.framework).era == when]) for when in (THEN, NOW)
        }
        then, now = best[THEN], best[NOW]
        if then and now:
            yield then, now


def _bar(row: Row, where: str) -> Bar:
    figure, framework = row.figures["speed"], row.cell.framework
    return Bar(
        group=" · ".join(filter(None, (look(framework).family, where))),
        framework=framework,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        note=row.verdict if row.is_weak else "",
    )


def _fastest(rows: Sequence[Row]) -> Row | None:
    return max(rows, key=lambda row: row.figures["speed"].value or 0.0, default=None)


def _grouped(rows: Iterable[Row], key: Callable[[Row], K]) -> dict[K, list[Row]]:
    found: dict[K, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _name(row: Row) -> tuple[str, str]:
    return row.cell.framework, f"{look(row.cell.framework).name}, {row.cell.execution}"


def _but_threads(row: Row) -> Key:
    cell = row.cell
    return row.machine, cell.device, cell.precision, cell.data, cell.batch


def _but_batch(row: Row) -> Key:
    cell = row.cell
    return row.machine, cell.device, cell.precision, cell.data, cell.threads if cell.device == "cpu" else 0
