"""Seconds per batch of each framework by number of threads, beside published figures."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.report.figures import per_step_of
from netdyno.report.names import short_name
from netdyno.report.published.survey import PublishedTime
from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.terminal.tables import new_table
from netdyno.results.cell import Cell
from netdyno.results.cores import crowding
from netdyno.results.result import Result

HERE = "here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """Seconds per batch, or None with a word in its place; `note` is a caveat or the reason."""

    seconds: float | None
    word: str = "–"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One framework in one place, its times by number of threads."""

    framework: str
    place: str
    times: dict[int, Time]


def thread_tables(results: Sequence[Result], published: Sequence[PublishedTime]) -> list[RenderableType]:
    """A table for each network that was measured on a CPU with several numbers of threads, then the notes.

    Empty where there is none.
    """
    notes = Footnotes()
    tables: list[RenderableType] = []
    timed = [result for result in results if result.head is None or per_step_of(result)]
    for group in _grouped(timed, lambda r: (r.machine, r.cell.workload, *_case(r.cell))):
        if len({result.cell.threads for result in group}) > 1:
            cell = group[0].cell
            beside = [time for time in published if (time.network, time.batch) == (cell.network, cell.batch)]
            tables += ["", _table(group, beside, notes)]
    lines = notes.lines()
    return [*tables, "", lines] if lines else tables


def _case(cell: Cell) -> tuple[object, ...]:
    return cell.network, cell.options, cell.dataset, cell.batch


def _grouped(results: Iterable[Result], key: Callable[[Result], tuple[object, ...]]) -> list[list[Result]]:
    groups: dict[tuple[object, ...], list[Result]] = {}
    for result in results:
        if result.cell.device == "cpu":
            groups.setdefault(key(result), []).append(result)
    return list(groups.values())


def _table(results: Sequence[Result], published: Sequence[PublishedTime], notes: Footnotes) -> Table:
    """Rows are in alphabetical order, so that a published row is next to the framework of the same name."""
    rows = sorted(_measured_rows(results) + _published_rows(published), key=lambda row: row.framework.lower())
    counts = sorted({count for row in rows for count in row.times})
    columns = [f"{count} thread{'s' if count > 1 else ''}" for count in counts]
    table = new_table("framework", "where", *columns, right=columns)
    table.title, table.title_justify, table.title_style = _title(results[0], published), "left", ""
    for row in rows:
        table.add_row(row.framework, row.place, *(_cell(row, count, notes) for count in counts))
    return table


def _measured_rows(results: Sequence[Result]) -> list[Row]:
    rows = []
    for group in _grouped(results, lambda r: (r.cell.framework, r.cell.execution, r.cell.precision)):
        times = {result.cell.threads: _measured_time(result) for result in group}
        rows.append(Row(framework=_name(group[0].cell, results), place=HERE, times=times))
    return rows


def _name(cell: Cell, results: Sequence[Result]) -> str:
    """The framework, with its precision and execution where these vary."""
    own = [result.cell for result in results if result.cell.framework == cell.framework]
    varying = [n for n in ("precision", "execution") if len({getattr(other, n) for other in own}) > 1]
    return " ".join([cell.framework, *(str(getattr(cell, name)) for name in varying)])


def _measured_time(result: Result) -> Time:
    head = result.head
    if head is None:
        return Time(seconds=None, word=result.outcome, note=result.reason or result.outcome)
    note = crowding(result.cell.threads, result.records[-1].environment)
    return Time(seconds=per_step_of(result) / head.value, note=f"{HERE}, {note}" if note else "")


def _published_rows(published: Sequence[PublishedTime]) -> list[Row]:
    times: dict[tuple[str, str], dict[int, Time]] = {}
    for time in published:
        times.setdefault((time.framework, time.label), {})[time.threads] = _published_time(time)
    return [Row(framework=framework, place=label, times=found) for (framework, label), found in times.items()]


def _published_time(time: PublishedTime) -> Time:
    if time.seconds_per_batch is None:
        return Time(seconds=None, note=f"{time.label} has no figure")
    note = crowding(time.threads, {"physical_cores": time.physical_cores})
    return Time(seconds=time.seconds_per_batch, note=f"{time.label}, {note}" if note else "")


def _title(result: Result, published: Sequence[PublishedTime]) -> Text:
    cell, machine = result.cell, result.records[-1].environment
    cores = f"{machine.get('physical_cores') or '?'} physical, {machine.get('logical_cores') or '?'} logical cores"
    lines = [
        f"{short_name(cell.network)}/{cell.dataset}: seconds per batch of {cell.batch} (× as fast as one thread)",
        f"{HERE}: {machine.get('cpu') or 'an unknown CPU'}, {cores}",
    ]
    sources = {time.label: time for time in published}
    lines += [f"{label}: {t.cpu}, {t.physical_cores} physical cores; {t.source}" for label, t in sources.items()]
    return Text("\n".join(lines))


def _cell(row: Row, threads: int, notes: Footnotes) -> Text:
    time = row.times.get(threads)
    if time is None:
        return notes.mark("–", "not measured")
    if time.seconds is None:
        return notes.mark(time.word, time.note)
    alone = row.times.get(1)
    gain = f" ×{alone.seconds / time.seconds:.2f}" if alone and alone.seconds and threads > 1 else ""
    text = f"{_seconds(time.seconds)}{gain}"
    return notes.mark(text, time.note) if time.note else Text(text)


def _seconds(value: float) -> str:
    """Three digits, as in the published figures."""
    return f"{value:.3f}" if value >= 0.1 else f"{value:.3g}"
