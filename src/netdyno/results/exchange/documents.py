"""Results as tables for people, in Markdown and in LaTeX: figures with their intervals, and notes on what is weak."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from netdyno.results.exchange.latex import latex
from netdyno.results.exchange.selection import Selection
from netdyno.results.exchange.tabular import chosen_execution
from netdyno.results.figure import Estimate
from netdyno.results.proof import Proved
from netdyno.results.record import MEASURED
from netdyno.results.result import STEADY, Result
from netdyno.results.utilisation import nominal_peak, utilisation
from netdyno.results.words import DASH, margin, number
from netdyno.text import one_line, shortened

LONGEST_NOTE = 600  # characters; a program's last words may be many
ROWS_OF_A_FLOAT = 40  # of LaTeX: as many as a page takes
BEFORE, AFTER = ("network", "framework", "how", "batch"), ("runs", "verdict")
TEXTS = ("network", "framework", "how", "verdict")  # left-aligned; the others are numbers
SHARE = "MFU"  # of the nominal peak of a GPU
SCALES = {"bytes": (2**-20, "MiB")}  # units that people read in others

Row = tuple[Result, int]  # the number of the note behind its verdict, or 0


@dataclass(slots=True)
class Tables:
    """A table for each workload on CPUs and on GPUs; notes are shared."""

    groups: dict[tuple[str, bool], list[Row]] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    unproved: set[str] = field(default_factory=set)

    def add(self, result: Result, proved: Proved) -> None:
        weakness = shortened(" ".join(_weakness(result).split()), LONGEST_NOTE)
        note = self.notes.setdefault(weakness, len(self.notes) + 1) if weakness else 0
        self.groups.setdefault((result.cell.workload, result.cell.device != "cpu"), []).append((result, note))
        self.unproved.update(proved.missing([result]))

    def parts(self) -> Iterator[tuple[str, Sequence[str], list[tuple[list[str], int]]]]:
        """Title, columns and rows of each table."""
        for (workload, on_gpu), rows in sorted(self.groups.items(), key=lambda group: group[0]):
            columns = _columns([result for result, _ in rows], on_gpu)
            title = f"{workload} on {'GPUs' if on_gpu else 'CPUs'}"
            yield title, [*BEFORE, *columns.values(), *AFTER], [(_row(result, columns), n) for result, n in rows]

    def remarks(self) -> list[str]:
        """What holds for all tables."""
        chosen = any(chosen_execution(result) for rows in self.groups.values() for result, _ in rows)
        found = ["* The fastest of the executions that were tried."] if chosen else []
        if self.unproved:
            names = ", ".join(sorted(self.unproved))
            found.append(f"Not proved here to train the same network as the reference: {names}.")
        return found


def write_markdown(selection: Selection, file: BinaryIO) -> int:
    """How many results were written."""
    tables = _tables(selection)
    file.write("\n".join(markdown_lines(tables)).encode("utf-8", "replace") + b"\n")
    return sum(map(len, tables.groups.values()))


def write_latex(selection: Selection, file: BinaryIO) -> int:
    """How many results were written."""
    tables = _tables(selection)
    file.write("\n".join(latex_lines(tables)).encode("utf-8", "replace") + b"\n")
    return sum(map(len, tables.groups.values()))


def markdown_lines(tables: Tables) -> Iterator[str]:
    """Tables as GitHub shows them, their notes below."""
    for title, columns, rows in tables.parts():
        yield from (f"**{title}**", "", _markdown_row(columns))
        yield _markdown_row(["---" if column in TEXTS else "---:" for column in columns])
        for cells, note in rows:
            shown = [_markdown(cell) for cell in cells]
            yield _markdown_row([*shown[:-1], shown[-1] + (f" <sup>{note}</sup>" if note else "")])
        yield ""
    yield from (f"<sup>{number}</sup> {_markdown(note)}  " for note, number in tables.notes.items())
    yield from (f"{_markdown(remark)}  " for remark in tables.remarks())


def latex_lines(tables: Tables) -> Iterator[str]:
    """Floats with booktabs, as many as their rows need."""
    yield r"% Needs \usepackage{booktabs}. Made by netdyno; intervals are of 95 %."
    for title, columns, rows in tables.parts():
        for start in range(0, len(rows), ROWS_OF_A_FLOAT):
            caption = title + (" (continued)" if start else "")
            yield from _float(caption, columns, rows[start : start + ROWS_OF_A_FLOAT])
    for note, mark in tables.notes.items():
        yield rf"\noindent\textsuperscript{{{mark}}} {latex(note)}\par"
    yield from (rf"\noindent {latex(remark)}\par" for remark in tables.remarks())


def _tables(selection: Selection) -> Tables:
    tables, proved = Tables(), Proved(selection.store.proofs())
    for result in selection.results():
        tables.add(result, proved)
    return tables


def _columns(results: Sequence[Result], on_gpu: bool) -> dict[tuple[str, str], str]:
    """The columns of figures: each by its name and what it shows, with the words at its head. First the headlines."""
    heads = dict.fromkeys(result.headline for result in results if result.headline)
    names = list(dict.fromkeys((*heads, *(name for result in results for name in result.figures))))
    columns = {}
    for name in names:
        units = dict.fromkeys(_scaled(result.figures[name])[1] for result in results if name in result.figures)
        unit = "/".join(units)
        columns[name, "value"] = (unit or name) if name in heads and unit else f"{name} {unit}".strip()
        if name in heads:
            columns[name, "margin"] = "95 %" if len(heads) == 1 else f"{name} 95 %"
    return columns | ({(SHARE, "share"): SHARE} if on_gpu else {})


def _row(result: Result, columns: Iterable[tuple[str, str]]) -> list[str]:
    cell = result.cell
    before = [f"{cell.network}/{cell.dataset}", cell.framework, _how(result), str(cell.batch)]
    shown = [_shown(result, name, what) for name, what in columns]
    return [*before, *shown, str(result.runs), _verdict(result)]


def _shown(result: Result, name: str, what: str) -> str:
    estimate = result.figures.get(name)
    if what == "share":
        return _share(result)
    if what == "margin":
        return margin(estimate)
    return DASH if estimate is None else number(_scaled(estimate)[0])


def _scaled(estimate: Estimate) -> tuple[float, str]:
    """The value in a unit that people read."""
    factor, unit = SCALES.get(estimate.unit, (1.0, estimate.unit))
    return factor * estimate.value, unit


def _how(result: Result) -> str:
    """Device, precision and execution, starred where a look at all executions chose it; the data if it is real."""
    cell, chosen = result.cell, chosen_execution(result)
    device = f"cpu×{cell.threads}" if cell.device == "cpu" else cell.device
    data = [] if cell.data == "synthetic" else [cell.data]
    return " ".join([device, cell.precision, f"{chosen}*" if chosen else cell.execution, *data])


def _share(result: Result) -> str:
    record = result.measured[-1] if result.measured else None
    found = utilisation(record, nominal_peak(record), None) if record else None
    return DASH if found is None or found.of_nominal is None else f"{found.of_nominal:.0%}"


def _verdict(result: Result) -> str:
    if result.outcome != MEASURED:
        return result.outcome
    return STEADY if result.verdict == STEADY else "see"


def _weakness(result: Result) -> str:
    """What a note says: why nothing was measured, or what is weak."""
    if result.outcome != MEASURED:
        return result.reason or result.outcome
    return "" if result.verdict == STEADY else result.verdict


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    """The text without meaning to Markdown or HTML: no table border, tag, link or emphasis."""
    return "".join(_MARKDOWN.get(character, character) for character in one_line(text))


def _float(caption: str, columns: Sequence[str], rows: Sequence[tuple[list[str], int]]) -> Iterator[str]:
    yield from (r"\begin{table}", r"\centering", rf"\caption{{{latex(caption)}}}")
    yield rf"\begin{{tabular}}{{{''.join('l' if column in TEXTS else 'r' for column in columns)}}}"
    yield from (r"\toprule", " & ".join(map(latex, columns)) + r" \\", r"\midrule")
    for cells, note in rows:
        mark = rf"\textsuperscript{{{note}}}" if note else ""
        yield " & ".join(map(latex, cells)) + mark + r" \\"
    yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}")


_MARKDOWN = {
    **{character: f"\\{character}" for character in "\\`*_{}[]()#+!|~"},
    **{"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"},
}
