"""The main figure over threads, over the batch and from 2018 to today: which rows make a line or a pair."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from netdyno.report.charts import Bar, Chart, Line, Point, scaling_chart, then_and_now
from netdyno.report.charts.palette import look
from netdyno.report.names import unusual
from netdyno.report.page.bars import best, different, goodness, natural, row_key
from netdyno.report.page.rows import Figure, Row

MOST_LINES = 10  # of one chart
MOST_SETTINGS = 4  # of then and now
THEN, NOW = "2018", "today"
SYNTHETIC = "synthetic"  # the usual data, not named

Drawn = tuple[str, Chart, str]  # title, chart, caption
K = TypeVar("K", bound=Hashable)
Key = tuple[str | int, ...]


def growth_charts(rows: Sequence[Row], where: str) -> Iterator[Drawn]:
    """The main figure over threads on a CPU and over the batch, where a framework was measured at two or more."""
    keys: Mapping[str, Callable[[Row], Key]] = {"threads": _but_threads, "batch": _but_batch}
    for field, key in keys.items():
        candidates = [row for row in rows if field == "batch" or row.cell.device == "cpu"]
        if lines := _longest(candidates, field, key):
            yield _drawn(lines, field, where)


def then_and_now_chart(rows: Sequence[Row], where: str) -> Iterator[Drawn]:
    """A family's version of 2018 beside today's with the same settings: the best execution of each."""
    settings = {key: found for key, group in _grouped(rows, row_key).items() if (found := list(_pairs(group)))}
    most = sorted(settings, key=lambda key: (-len(settings[key]), natural(key)))[:MOST_SETTINGS]
    chosen = sorted(most, key=natural)
    labels = different(chosen)
    pairs = [(_bar(then, labels[key]), _bar(now, labels[key])) for key in chosen for then, now in settings[key]]
    if pairs:
        unit = _head(settings[chosen[0]][0][0]).wording.unit
        chart = then_and_now(pairs, title=f"Then and now, {where}", axis=unit)
        caption = "The version of 2018 beside today's, with the same settings on the same machine; × is new over old."
        yield f"Then and now, {unit}", chart, caption


def _longest(rows: Sequence[Row], field: str, key: Callable[[Row], Key]) -> list[list[Row]]:
    """The rows of each line, the best line first, from the group with most rows; nothing where no line has two
    points."""
    groups = [
        [found for found in _grouped(group, _execution).values() if len(_at(found, field)) > 1]
        for group in _grouped(rows, key).values()
    ]
    longest = max(groups, key=lambda lines: sum(map(len, lines)), default=[])
    return sorted(longest, key=lambda line: -max(goodness(_head(row)) for row in line))


def _drawn(lines: Sequence[Sequence[Row]], field: str, where: str) -> Drawn:
    shown = lines[:MOST_LINES]
    drawn = [_line(rows, field, _line_name(rows[0], shown)) for rows in shown]
    first = lines[0][0]
    words = _head(first).wording
    title = f"{words.subject} over {field}"
    chart = scaling_chart(drawn, title=f"{title}, {where}", x_axis=field, y_axis=words.unit)
    fixed = f"batch {first.cell.batch}" if field == "threads" else ""
    fixed = f"{first.cell.threads} threads" if field == "batch" and first.cell.device == "cpu" else fixed
    data = "" if first.cell.data == SYNTHETIC else f"{first.cell.data} data"
    shared = ", ".join(filter(None, (first.place, first.cell.precision, fixed, data, *unusual(first.cell))))
    rest = len(lines) - len(shown)
    more = f" The best {len(shown)} of {len(lines)}; the table has the other {rest} too." if rest else ""
    return f"{title}, {words.unit}", chart, f"{shared}.{more}"


def _line(rows: Sequence[Row], field: str, name: str) -> Line:
    points = []
    for at, found in sorted(_at(rows, field).items()):
        figure = _head(best(found) or found[0])
        weak = next((row.verdict for row in found if row.is_weak), "") or next((row.crowding for row in found), "")
        points.append(Point(x=at, value=figure.value, low=figure.low, high=figure.high, note=weak))
    return Line(framework=rows[0].cell.framework, name=name, points=tuple(points))


def _line_name(row: Row, lines: Sequence[Sequence[Row]]) -> str:
    """The framework's, with the execution where the chart has several of its lines."""
    name = look(row.cell.framework).name
    several = sum(line[0].cell.framework == row.cell.framework for line in lines) > 1
    return f"{name}, {row.cell.execution}" if several else name


def _at(rows: Iterable[Row], field: str) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(getattr(row.cell, field), []).append(row)
    return found


def _pairs(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Of each family the best of 2018 and the best of today."""
    for _, members in sorted(_grouped(rows, lambda row: (look(row.cell.framework).family,)).items()):
        then, now = (best([row for row in members if look(row.cell.framework).era == when]) for when in (THEN, NOW))
        if then and now:
            yield then, now


def _bar(row: Row, where: str) -> Bar:
    figure, framework = _head(row), row.cell.framework
    return Bar(
        group=" · ".join(filter(None, (look(framework).name, where))),
        framework=framework,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        note=row.verdict if row.is_weak else "",
    )


def _head(row: Row) -> Figure:
    """The main figure of a measured row."""
    assert row.head is not None
    return row.head


def _grouped(rows: Iterable[Row], key: Callable[[Row], K]) -> dict[K, list[Row]]:
    found: dict[K, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _execution(row: Row) -> Key:
    return row.cell.framework, row.cell.execution


def _but_threads(row: Row) -> Key:
    cell = row.cell
    return row.machine, cell.device, cell.precision, cell.data, *unusual(cell), cell.batch


def _but_batch(row: Row) -> Key:
    cell = row.cell
    threads = cell.threads if cell.device == "cpu" else 0
    return row.machine, cell.device, cell.precision, cell.data, *unusual(cell), threads
