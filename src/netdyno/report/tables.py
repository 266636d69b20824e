"""Results and networks as tables that fit 100 columns."""

from collections.abc import Sequence

from rich import box
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from netdyno.report.footnotes import Footnotes
from netdyno.results.cell import Cell
from netdyno.results.result import STEADY, Result
from netdyno.results.words import margin, number

NETWORK_WIDTH = 28  # a user's own network is named by a path


def new_table(*columns: str, right: Sequence[str] = ()) -> Table:
    """A table in the house's style; the columns named in `right` hold numbers, the last may take several lines."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        justify: JustifyMethod = "right" if column in right else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column != columns[-1])
    return table


def results_table(results: Sequence[Result], notes: Footnotes) -> Table:
    """One line per cell: the speed with its interval, or why there is none; what is weak about it goes to `notes`."""
    table = new_table(
        "network", "framework", "how", "batch", "images/s", "95 %", "runs", "verdict",
        right=("batch", "images/s", "95 %", "runs"),
    )  # fmt: skip
    if any(len(f"{result.cell.network}/{result.cell.dataset}") > NETWORK_WIDTH for result in results):
        table.columns[0].no_wrap, table.columns[0].max_width = False, NETWORK_WIDTH
    for result in results:
        table.add_row(
            f"{result.cell.network}/{result.cell.dataset}",
            result.cell.framework,
            how(result.cell),
            str(result.cell.batch),
            number(result.head.value if result.head else None),
            margin(result.head),
            str(result.runs),
            verdict(result, notes),
        )
    return table


def how(cell: Cell) -> str:
    """Device, precision and execution in a few words."""
    device = f"cpu×{cell.threads}" if cell.device == "cpu" else cell.device
    return f"{device} {cell.precision} {cell.execution}"


def verdict(result: Result, notes: Footnotes) -> Text:
    """Steady, or a word with the number of the note that says what is weak."""
    if result.outcome != "measured":
        return notes.mark(result.outcome, result.reason or result.outcome, "red")
    if result.verdict == STEADY:
        return Text(STEADY, style="green")
    return notes.mark("see", result.verdict, "yellow")
