"""Which rows share a chart, under which headings; what all rows have in common is written beside the chart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from netdyno.report.charts import Bar
from netdyno.report.charts.palette import look
from netdyno.report.names import short_reason, unusual
from netdyno.report.page.rows import Figure, Row
from netdyno.report.vocabulary import Wording

MOST_GROUPS, MOST_BARS = 6, 36  # of one chart: more cannot be read
FAILED = "failed"  # the outcome that says no more than that there is no figure
REASON = 60  # characters of a reason shown in place of a bar; the list of reasons has all of it

Key = tuple[str, ...]  # place, machine, precision, batch, threads, data, other fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that may be compared, each framework in each of its executions; `label` distinguishes the group."""

    label: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The groups of one network on one dataset. `shared` is what they have in common; `left_out` groups and
    `rows_left_out` rows of the others are not drawn."""

    groups: tuple[Group, ...]
    shared: str
    left_out: int
    rows_left_out: int

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]


def grouping(rows: Sequence[Row]) -> Grouping:
    """By device, precision, batch, threads and data."""
    keyed: dict[Key, list[Row]] = {}
    for row in rows:
        keyed.setdefault(row_key(row), []).append(row)
    drawn = _drawn(keyed)
    measured = [key for key, found in drawn.items() if any(row.is_measured for row in found)] or list(drawn)
    labels = different(list(drawn)) | different(measured)  # a group of failures has no bars
    return Grouping(
        groups=tuple(Group(label=labels[key], rows=tuple(found)) for key, found in drawn.items()),
        shared=_shared(measured),
        left_out=len(keyed) - len(drawn),
        rows_left_out=sum(len(keyed[key]) - len(found) for key, found in drawn.items()),
    )


def different(keys: Sequence[Key]) -> dict[Key, str]:
    """What distinguishes each key from the others, in words."""
    places = [place for place, words in enumerate(zip(*keys, strict=True)) if len(set(words)) > 1]
    if len({key[0] for key in keys}) == len({key[:2] for key in keys}):
        places = [place for place in places if place != 1]  # the machine's id adds nothing to its device
    return {key: " · ".join(key[place] for place in places if key[place]) for key in keys}


def wordings(rows: Iterable[Row]) -> list[Wording]:
    """Every figure that some row has or should have, the main one first."""
    found = {figure.wording.name: figure.wording for row in rows for figure in row.figures.values()}
    lacking = {hole.wording.name: hole.wording for row in rows for hole in row.missing.values()}
    heads = {row.headline for row in rows}
    return sorted((lacking | found).values(), key=lambda words: (words.name not in heads, words.place, words.name))


def bars(found: Grouping, words: Wording) -> list[Bar]:
    """A bar for each row, or the reason in its place. Groups without the figure are left out, and rows that lack
    it for no known reason; rows that were not measured at all are only in the chart of the main figure."""
    groups = [group for group in found.groups if any(words.name in row.figures for row in group.rows)]
    return [_bar(group, row, words) for group in groups for row in group.rows if _is_shown(row, words)]


def holes(found: Grouping, words: Wording) -> list[str]:
    """Why the figure is missing, for each device where no result has it."""
    reasons: dict[str, set[str]] = {}
    for group in found.groups:
        measured = [row for row in group.rows if row.is_measured]
        if measured and not any(words.name in row.figures for row in measured) and words.name in measured[-1].missing:
            reasons.setdefault(measured[0].place, set()).add(measured[-1].missing[words.name].reason)
    return [f"{words.title} on {place}: {'; '.join(sorted(why))}." for place, why in reasons.items()]


def best(rows: Sequence[Row]) -> Row | None:
    """The measured row with the best main figure; the first of equals."""
    measured = [(goodness(row.head), row) for row in rows if row.head is not None]
    return max(measured, key=lambda each: each[0])[1] if measured else None


def goodness(figure: Figure) -> float:
    """Larger is better."""
    return figure.value if figure.wording.more_is_better else -figure.value


def row_key(row: Row) -> Key:
    """What two rows must share to be compared."""
    cell = row.cell
    threads = f"{cell.threads} thread{'s' if cell.threads > 1 else ''}" if cell.device == "cpu" else ""
    others = " · ".join(unusual(cell))
    return row.place, row.machine, cell.precision, f"batch {cell.batch}", threads, f"{cell.data} data", others


def _shared(keys: Sequence[Key]) -> str:
    columns = list(zip(*keys, strict=True))
    words = [words[0] for place, words in enumerate(columns) if place != 1 and len(set(words)) == 1]
    return " · ".join(filter(None, words))


def _drawn(keyed: Mapping[Key, Sequence[Row]]) -> dict[Key, list[Row]]:
    """All groups, if they fit into a chart; else of each device and precision the batch and number of threads with
    most frameworks: other charts show the effect of batch and threads."""
    sizes = {key: len({row.cell.framework for row in rows if row.is_measured}) for key, rows in keyed.items()}
    chosen = sorted(keyed, key=lambda key: (-sizes[key], [-part for part in _sizes(key)], key))
    if len(chosen) > MOST_GROUPS or sum(map(len, keyed.values())) > MOST_BARS:
        chosen = list({_without_sizes(key): key for key in reversed(chosen)}.values())[::-1]
    kept: list[Key] = []
    room = MOST_BARS
    for key in chosen[:MOST_GROUPS]:
        found = min(len(keyed[key]), MOST_BARS)
        if not kept or found <= room:
            kept.append(key)
            room -= found
    return {key: _readable(keyed[key]) for key in sorted(kept, key=natural)}


def _readable(rows: Sequence[Row]) -> list[Row]:
    """The best first; of too many rows only the best execution of each framework."""
    ordered = sorted(rows, key=_best_first)
    if len(ordered) <= MOST_BARS:
        return ordered
    first: dict[str, Row] = {}
    for row in ordered:
        first.setdefault(row.cell.framework, row)
    return list(first.values())[:MOST_BARS]


def _best_first(row: Row) -> tuple[bool, float, int, str, str]:
    head, own = row.head, look(row.cell.framework)
    return head is None, -goodness(head) if head else 0.0, own.order, row.cell.framework, row.execution


def natural(key: Key) -> tuple[object, ...]:
    """In order of place, precision and data, then by number of threads and batch."""
    return (*_without_sizes(key), *_sizes(key))


def _without_sizes(key: Key) -> Key:
    """The key without batch and threads."""
    return (*key[:3], *key[5:])


def _sizes(key: Key) -> tuple[int, int]:
    """Threads and batch."""
    return int(key[4].split()[0]) if key[4] else 0, int(key[3].split()[1])


def _bar(group: Group, row: Row, words: Wording) -> Bar:
    figure = row.figures.get(words.name)
    several = sum(other.cell.framework == row.cell.framework for other in group.rows) > 1
    return Bar(
        group=group.label,
        framework=row.cell.framework,
        value=figure.value if figure else None,
        low=figure.low if figure else None,
        high=figure.high if figure else None,
        note=_short(_reason(row, words)) if figure is None else row.verdict if row.is_weak else "",
        name=f"{look(row.cell.framework).name}, {row.execution}" if several else "",
    )


def _is_shown(row: Row, words: Wording) -> bool:
    if row.is_measured:
        return words.name in row.figures or words.name in row.missing
    return words.name == row.headline


def _reason(row: Row, words: Wording) -> str:
    if row.is_measured:
        return row.missing[words.name].reason
    if row.outcome == FAILED and row.reason:
        return short_reason(row.reason)
    return f"{row.outcome}: {short_reason(row.reason)}" if row.reason else row.outcome


def _short(reason: str) -> str:
    return reason if len(reason) <= REASON else f"{reason[:REASON].rstrip()}…"
