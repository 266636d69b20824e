"""Results as tables for people, in Markdown and in LaTeX: the figures of the terminal's tables, and their notes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from netdyno.results.export_columns import chosen_execution
from netdyno.results.proof import Proof, unproved_frameworks
from netdyno.results.result import STEADY, Result
from netdyno.results.selection import Selection
from netdyno.results.utilisation import nominal_peak, utilisation
from netdyno.results.words import DASH, margin, number

ROWS_OF_A_FLOAT = 40  # of LaTeX: as many as a page takes
CPU_COLUMNS = ("network", "framework", "how", "batch", "images/s", "95 %", "runs", "verdict")
GPU_COLUMNS = (
    "network", "framework", "how", "batch", "images/s", "95 %", "MiB", "W", "J/image", "MFU", "runs", "verdict",
)  # fmt: skip
HOW = CPU_COLUMNS.index("how")
TEXTS = ("network", "framework", "how", "verdict")  # left-aligned; the others are numbers


@dataclass(slots=True)
class Tables:
    """The cells of two tables as text: `note` in a row is the number of the note behind its verdict, or 0."""

    cpu: list[tuple[list[str], int]] = field(default_factory=list)
    gpu: list[tuple[list[str], int]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    unproved: set[str] = field(default_factory=set)

    def add(self, result: Result, proofs: Sequence[Proof]) -> None:
        told = " ".join(_weakness(result).split())
        note = self.notes.setdefault(told, len(self.notes) + 1) if told else 0
        (self.cpu if result.cell.device == "cpu" else self.gpu).append((_row(result), note))
        self.unproved.update(unproved_frameworks([result], proofs))

    def parts(self) -> Iterator[tuple[str, Sequence[str], list[tuple[list[str], int]]]]:
        """Title, columns and rows of each table that has any."""
        if self.cpu:
            yield "Training speed on CPUs", CPU_COLUMNS, self.cpu
        if self.gpu:
            yield "Training speed, memory, power and energy on GPUs", GPU_COLUMNS, self.gpu

    def remarks(self) -> list[str]:
        """What holds for all tables."""
        chosen = any(cells[HOW].endswith("*") for _, _, rows in self.parts() for cells, _ in rows)
        told = ["* The fastest of the executions that were tried."] if chosen else []
        if self.unproved:
            names = ", ".join(sorted(self.unproved))
            told.append(f"Not proved here to train the same network as the reference: {names}.")
        return told


def write_markdown(selection: Selection, file: BinaryIO) -> int:
    """How many results were written."""
    tables = _tables(selection)
    file.write("\n".join(markdown_lines(tables)).encode("utf-8", "replace") + b"\n")
    return len(tables.cpu) + len(tables.gpu)


def write_latex(selection: Selection, file: BinaryIO) -> int:
    """How many results were written."""
    tables = _tables(selection)
    file.write("\n".join(latex_lines(tables)).encode("utf-8", "replace") + b"\n")
    return len(tables.cpu) + len(tables.gpu)


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


def latex(text: str) -> str:
    """The text with LaTeX's own characters made harmless."""
    return "".join(_LATEX.get(character, character) for character in text)


def _tables(selection: Selection) -> Tables:
    tables, proofs = Tables(), selection.store.proofs()
    for result in selection.results():
        tables.add(result, proofs)
    return tables


def _row(result: Result) -> list[str]:
    cell, readings = result.cell, result.readings
    name = [f"{cell.network}/{cell.dataset}", cell.framework, _how(result), str(cell.batch)]
    speed = [number(result.images_per_s), margin(result)]
    if cell.device == "cpu":
        return [*name, *speed, str(result.runs), _verdict(result)]
    memory = DASH if result.device_peak_bytes is None else f"{result.device_peak_bytes / 2**20:,.0f}"
    watts, joules = readings.get("mean_w"), readings.get("j_per_item")
    device = [memory, DASH if watts is None else f"{watts:.0f}", DASH if joules is None else f"{joules:.3g}"]
    return [*name, *speed, *device, _share(result), str(result.runs), _verdict(result)]


def _how(result: Result) -> str:
    """Device, precision and execution; a star where a look at all executions chose it."""
    cell, chosen = result.cell, chosen_execution(result)
    device = f"cpu×{cell.threads}" if cell.device == "cpu" else cell.device
    return f"{device} {cell.precision} {f'{chosen}*' if chosen else cell.execution}"


def _share(result: Result) -> str:
    record = result.measured[-1] if result.measured else None
    found = utilisation(record, nominal_peak(record), None) if record else None
    return DASH if found is None or found.of_nominal is None else f"{found.of_nominal:.0%}"


def _verdict(result: Result) -> str:
    if result.outcome != "measured":
        return result.outcome
    return STEADY if result.verdict == STEADY else "see"


def _weakness(result: Result) -> str:
    """What a note says: why nothing was measured, or what is weak."""
    if result.outcome != "measured":
        return result.reason or result.outcome
    return "" if result.verdict == STEADY else result.verdict


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    """The text without meaning to Markdown or HTML: no table border, tag, link or emphasis."""
    return "".join(_MARKDOWN.get(character, character) for character in " ".join(text.split()))


def _float(caption: str, columns: Sequence[str], rows: Sequence[tuple[list[str], int]]) -> Iterator[str]:
    yield from (r"\begin{table}", r"\centering", rf"\caption{{{latex(caption)}}}")
    yield rf"\begin{{tabular}}{{{''.join('l' if column in TEXTS else 'r' for column in columns)}}}"
    yield from (r"\toprule", " & ".join(map(latex, columns)) + r" \\", r"\midrule")
    for cells, note in rows:
        mark = rf"\textsuperscript{{{note}}}" if note else ""
        yield " & ".join(map(latex, cells)) + mark + r" \\"
    yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}")


_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"},
    **{"±": r"$\pm$", "×": r"$\times$", "–": "--", "\n": " ", "°": r"$^\circ$", "µ": r"$\mu$"},
}  # fmt: skip
_MARKDOWN = {
    **{character: f"\\{character}" for character in "\\`*_{}[]()#+!|~"},
    **{"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"},
}
