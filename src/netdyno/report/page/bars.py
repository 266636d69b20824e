"""Which rows stand in one chart, under which headings: what all of them share is said once, beside the chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netdyno.report.charts import Bar
from netdyno.report.charts.palette import look
from netdyno.report.page.metrics import SPEED, Metric
from netdyno.report.page.rows import Row

MOST_GROUPS, MOST_BARS = 6, 36  # of one chart: more cannot be read
REASON = 40  # characters of a reason that stand in the place of a bar; all of it is in the list of reasons

Key = tuple[str, ...]  # place, machine, precision, batch, threads, data


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that may be compared, each framework in each of its executions, and what tells them from other groups."""

    label: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The groups of one network on one dataset. `shared` is what they have in common, `left_out` how many are not
    drawn."""

    groups: tuple[Group, ...]
    shared: str
    left_out: int

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]


def grouping(rows: Sequence[Row]) -> Grouping:
    """By device, precision, batch, threads and data."""
    keyed: dict[Key, list[Row]] = {}
    for row in rows:
        keyed.setdefault(row_key(row), []).append(row)
    drawn = _drawn(keyed)
    labels = different(list(drawn))
    groups = [Group(label=labels[key], rows=tuple(found)) for key, found in drawn.items()]
    return Grouping(groups=tuple(groups), shared=_shared(list(drawn)), left_out=len(keyed) - len(drawn))


def different(keys: Sequence[Key]) -> dict[Key, str]:
    """What tells each key from the others, in words."""
    places = [place for place, words in enumerate(zip(*keys, strict=True)) if len(set(words)) > 1]
    if len({key[0] for key in keys}) == len({key[:2] for key in keys}):
        places = [place for place in places if place != 1]  # the machine's id says nothing that its device does not
    return {key: " · ".join(key[place] for place in places if key[place]) for key in keys}


def bars(found: Grouping, metric: Metric) -> list[Bar]:
    """A bar for each row, or the reason in its place. Groups that nobody has the figure in are left out, and what was
    not measured at all stands in the first chart only."""
    groups = [group for group in found.groups if any(_value(row, metric) is not None for row in group.rows)]
    return [_bar(group, row, metric) for group in groups for row in group.rows if row.is_measured or metric is SPEED]


def holes(found: Grouping, metric: Metric) -> list[str]:
    """Why nobody has the figure, for each device where that is so."""
    reasons: dict[str, set[str]] = {}
    for group in found.groups:
        measured = [row for row in group.rows if row.is_measured]
        if measured and all(_value(row, metric) is None for row in measured):
            reasons.setdefault(measured[0].place, set()).add(measured[-1].figures[metric.name].reason)
    return [f"{metric.title} on {place}: {'; '.join(sorted(told))}." for place, told in reasons.items()]


def row_key(row: Row) -> Key:
    """What two rows must share to be compared."""
    cell = row.cell
    threads = f"{cell.threads} thread{'s' if cell.threads > 1 else ''}" if cell.device == "cpu" else ""
    return row.place, row.machine, cell.precision, f"batch {cell.batch}", threads, f"{cell.data} data"


def _shared(keys: Sequence[Key]) -> str:
    columns = list(zip(*keys, strict=True))
    words = [words[0] for place, words in enumerate(columns) if place != 1 and len(set(words)) == 1]
    return " · ".join(filter(None, words))


def _drawn(keyed: Mapping[Key, Sequence[Row]]) -> dict[Key, list[Row]]:
    """All groups, if they can be read; else one batch and number of threads of each manner, the one with most
    frameworks: what batch and threads do is drawn by itself."""
    sizes = {key: len({row.cell.framework for row in rows if row.is_measured}) for key, rows in keyed.items()}
    chosen = sorted(keyed, key=lambda key: (-sizes[key], [-part for part in _sizes(key)], key))
    if len(chosen) > MOST_GROUPS or sum(map(len, keyed.values())) > MOST_BARS:
        chosen = list({_manner(key): key for key in reversed(chosen)}.values())[::-1]
    kept: list[Key] = []
    room = MOST_BARS
    for key in chosen[:MOST_GROUPS]:
        found = min(len(keyed[key]), MOST_BARS)
        if not kept or found <= room:
            kept.append(key)
            room -= found
    return {key: _readable(keyed[key]) for key in sorted(kept, key=_natural)}


def _readable(rows: Sequence[Row]) -> list[Row]:
    """In the order that frameworks have everywhere; of a crowd only the fastest execution of each."""
    ordered = sorted(rows, key=lambda row: (look(row.cell.framework).order, row.cell.framework, row.execution))
    if len(ordered) <= MOST_BARS:
        return ordered
    best: dict[str, Row] = {}
    for row in ordered:
        other = best.get(row.cell.framework)
        if other is None or (_value(row, SPEED) or 0.0) > (_value(other, SPEED) or 0.0):
            best[row.cell.framework] = row
    return list(best.values())[:MOST_BARS]


def _natural(key: Key) -> tuple[object, ...]:
    """In order of place and manner, and by number where there are numbers."""
    return (*_manner(key), *_sizes(key))


def _manner(key: Key) -> Key:
    """The key without batch and threads."""
    return (*key[:3], *key[5:])


def _sizes(key: Key) -> tuple[int, int]:
    """Threads and batch."""
    return int(key[4].split()[0]) if key[4] else 0, int(key[3].split()[1])


def _bar(group: Group, row: Row, metric: Metric) -> Bar:
    figure = row.figures[metric.name]
    several = sum(other.cell.framework == row.cell.framework for other in group.rows) > 1
    return Bar(
        group=group.label,
        framework=row.cell.framework,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        note=_short(figure.reason) if figure.value is None else row.verdict if row.is_weak else "",
        name=f"{look(row.cell.framework).name}, {row.execution}" if several else "",
    )


def _short(reason: str) -> str:
    return reason if len(reason) <= REASON else f"{reason[:REASON].rstrip()}…"


def _value(row: Row, metric: Metric) -> float | None:
    return row.figures[metric.name].value
