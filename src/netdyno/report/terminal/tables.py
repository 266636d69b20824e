"""Results as tables that fit 100 columns: words may wrap, numbers are never cut."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.report.figures import LEARN, TRAIN
from netdyno.report.names import short_names, unusual
from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.vocabulary import Wording, margin, shown_figures, wording
from netdyno.results.cell import Cell
from netdyno.results.figure import Estimate
from netdyno.results.result import STEADY, Result
from netdyno.results.statistics import runs_to_halve
from netdyno.results.utilisation import nominal_peak, utilisation
from netdyno.results.words import DASH
from netdyno.text import one_line

SHORT = {
    "float32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "cudagraph": "graph",
    "compiled-cudagraph": "compiled+graph",
}
LINE, GAP = 100, 2  # columns of a line; between two columns of a table
FEW, WIDE = 5, 0.1  # runs; of a value from one end of its interval to the other
INTERVAL, SHARE = "95 %", "MFU"  # MFU: the model's FLOP/s over the nominal peak of the device at that precision


class PlainTable(Table):
    """A table of texts: each cell is one line, shown as it is."""

    def add_row(self, *cells: RenderableType | None, **settings: Any) -> None:
        super().add_row(*map(_plain, cells), **settings)


def new_table(*columns: str, right: Sequence[str] = ()) -> Table:
    """A table in netdyno's style; the columns named in `right` hold numbers. Numbers and frameworks never wrap, so
    that in a narrow table the other words do."""
    layout: dict[str, Any] = {"show_edge": False, "pad_edge": False, "padding": (0, 1, 0, 0)}
    table = PlainTable(box=box.SIMPLE_HEAD, header_style="bold", **layout)
    for column in columns:
        justify: JustifyMethod = "right" if column in right else "left"
        is_whole = column in (*right, "framework")
        table.add_column(Text(one_line(column)), justify=justify, overflow="fold", no_wrap=is_whole)
    return table


def matrix_tables(corner: str, columns: Sequence[str], rows: Mapping[str, Sequence[Text]]) -> list[Table]:
    """A line for each row under `corner`, with as many columns beside as fit; the others in further tables."""
    widths = [
        max(cell_len(one_line(column)), *(row[place].cell_len for row in rows.values()))
        for place, column in enumerate(columns)
    ]
    tables = []
    for places in _fitting(widths, LINE - max(map(cell_len, (corner, *rows)))):
        heads = [columns[place] for place in places]
        table = new_table(corner, *heads, right=heads)
        for name, row in rows.items():
            table.add_row(name, *(row[place] for place in places))
        tables.append(table)
    return tables


def results_tables(results: Sequence[Result]) -> list[RenderableType]:
    """A table for each workload and unit on the CPU, then a table for each framework on a GPU; then the notes."""
    notes = Footnotes()
    names = short_names({result.cell.network for result in results})
    parts: list[RenderableType] = []
    for found in _grouped(results):
        parts += ["", _table(found, notes, names)] if parts else [_table(found, notes, names)]
    parts += ["", notes.lines()] if notes.lines() else []
    return [*parts, Text(few)] if (few := few_runs(results)) else parts


def few_runs(results: Sequence[Result]) -> str:
    """Where few runs make an interval wide: how many would halve it."""
    wide = {
        result.runs
        for result in results
        if result.head and result.head.low is not None and result.head.high is not None
        if 1 < result.runs <= FEW and result.head.high - result.head.low > WIDE * abs(result.head.value)
    }
    said = [f"{runs_to_halve(runs)} instead of {runs}" for runs in sorted(wide)]
    return (
        f"Some intervals are wide because runs are few: {', '.join(said)} would halve them (--runs)." if said else ""
    )


def how(cell: Cell) -> str:
    """Device, precision and execution in a few words; a workload other than training first, and other fields where
    they are not as usual."""
    device = f"cpu×{cell.threads}" if cell.device == "cpu" else cell.device
    workload = [cell.workload] if cell.workload not in (TRAIN, LEARN) else []
    return " ".join([*workload, device, cell.precision, cell.execution, *_real_data(cell), *unusual(cell)])


def _real_data(cell: Cell) -> list[str]:
    return [] if cell.data == "synthetic" else [cell.data]


def verdict(result: Result, notes: Footnotes) -> Text:
    """Steady, or a word with the number of the note that says what is weak."""
    if result.outcome != "measured":
        return notes.mark_failure(result)
    if result.verdict == STEADY:
        return Text(STEADY, style="green")
    return notes.mark("see", result.verdict, "yellow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The figures that a table shows: the main one with its interval, then the others."""

    head: Wording
    others: tuple[Wording, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        return self.head.heading, INTERVAL, *(words.heading for words in self.others)

    def numbers(self, figures: Mapping[str, Estimate]) -> list[str]:
        head = figures.get(self.head.name)
        texts = [self.head.text(head.value if head else None), margin(head)]
        return texts + [
            words.brief(found.value if (found := figures.get(words.name)) else None) for words in self.others
        ]


def _fitting(widths: Sequence[int], room: int) -> list[list[int]]:
    """The places of columns in groups, each as wide as there is room."""
    groups: list[list[int]] = []
    left = 0
    for place, width in enumerate(widths):
        left -= width + GAP
        if left < 0:
            groups.append([])
            left = room - width - GAP
        groups[-1].append(place)
    return groups


def _plain(cell: RenderableType | None) -> RenderableType | None:
    """A style covers the whole cell, so that only words joined by hand need more than a new text."""
    if isinstance(cell, str):
        return Text(one_line(cell))
    return Text(one_line(cell.plain), style=cell.style) if isinstance(cell, Text) and not cell.spans else cell


def _grouped(results: Iterable[Result]) -> list[list[Result]]:
    """By kind of device (CPUs first), workload and unit of the main figure; on a GPU by framework too."""
    kinds: dict[tuple[bool, str, str], list[Result]] = {}
    for result in results:
        on_gpu = result.cell.device != "cpu"
        framework = result.cell.framework if on_gpu else ""
        kinds.setdefault((on_gpu, result.cell.workload, framework), []).append(result)
    return [group for _, found in sorted(kinds.items(), key=lambda each: each[0][:2]) for group in _by_unit(found)]


def _by_unit(results: Sequence[Result]) -> list[list[Result]]:
    """Results without a figure are in the first group."""
    units = [head.unit if (head := result.head) else None for result in results]
    first = next((unit for unit in units if unit is not None), None)
    groups: dict[str | None, list[Result]] = {first: []}
    for result, unit in zip(results, units, strict=True):
        groups.setdefault(first if unit is None else unit, []).append(result)
    return list(groups.values())


def _table(results: Sequence[Result], notes: Footnotes, names: Mapping[str, str]) -> Table:
    on_gpu = results[0].cell.device != "cpu"
    columns = _columns(results, on_gpu)
    if not on_gpu:
        words = ("network", "framework", "how", "batch")
        table = new_table(*words, *columns.headings, "runs", "verdict", right=("batch", *columns.headings, "runs"))
    else:
        numbers = (*columns.headings, SHARE)
        table = new_table(results[0].cell.framework, "how", *numbers, "verdict", right=numbers)
    for result in results:
        texts = (_gpu_texts if on_gpu else _cpu_texts)(result, columns, names)
        table.add_row(*(Text(text) for text in texts), verdict(result, notes))
    return table


def _cpu_texts(result: Result, columns: Columns, names: Mapping[str, str]) -> list[str]:
    cell = result.cell
    words = [f"{names[cell.network]}/{cell.dataset}", cell.framework, how(cell), str(cell.batch)]
    return [*words, *columns.numbers(result.figures), str(result.runs)]


def _gpu_texts(result: Result, columns: Columns, names: Mapping[str, str]) -> list[str]:
    cell = result.cell
    words = [f"{names[cell.network]}/{cell.dataset} b{cell.batch}", _short_how(result)]
    return [*words, *columns.numbers(result.figures), _share(result)]


def _columns(results: Sequence[Result], on_gpu: bool) -> Columns:
    """Every figure of the results but for details and, on a CPU, those of the device."""
    figures = shown_figures(results)
    heads = {result.headline for result in results}
    head = next((words for words in figures if words.name in heads), None) or wording("", "figure", "", "none")
    others = [words for words in figures if words.name != head.name and (on_gpu or not words.is_device)]
    return Columns(head=head, others=tuple(others))


def _short_how(result: Result) -> str:
    """Precision and execution; a star where a trial of all executions chose it."""
    cell = result.cell
    chosen = {str(record.settings.get("execution", "")) for record in result.measured} - {""}
    execution = f"{SHORT.get(min(chosen), min(chosen))}*" if chosen else SHORT.get(cell.execution, cell.execution)
    return " ".join([SHORT.get(cell.precision, cell.precision), execution, *_real_data(cell), *unusual(cell)])


def _share(result: Result) -> str:
    if not result.measured:
        return DASH
    record = result.measured[-1]
    found = utilisation(record, nominal_peak(record), None)
    return DASH if found is None or found.of_nominal is None else f"{found.of_nominal:.0%}"
