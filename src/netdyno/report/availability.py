"""What there is of a suite: every framework on every network, a speed or the reason that there is none."""

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from netdyno.report.footnotes import Footnotes
from netdyno.report.tables import new_table
from netdyno.results.cell import Cell
from netdyno.results.result import Result
from netdyno.results.words import number


def availability(
    cells: Sequence[Cell], results: Sequence[Result], missing: Mapping[str, str]
) -> list[RenderableType]:
    """A line for each framework, a table for each dataset, the fastest way of executing it; then the reasons."""
    notes = Footnotes()
    frameworks = sorted({cell.framework for cell in cells})
    parts: list[RenderableType] = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        networks = list(dict.fromkeys(cell.network for cell in cells if cell.dataset == dataset))
        table = new_table(f"{dataset}: images/s", *networks, right=networks)
        for framework in frameworks:
            chosen = [[r for r in results if _is(r.cell, framework, network, dataset)] for network in networks]
            table.add_row(framework, *(_best(found, missing.get(framework, ""), notes) for found in chosen))
        parts += ["", table]
    lines = notes.lines()
    return [*parts, "", lines] if lines else parts


def _is(cell: Cell, framework: str, network: str, dataset: str) -> bool:
    return (cell.framework, cell.network, cell.dataset) == (framework, network, dataset)


def _best(found: Sequence[Result], missing: str, notes: Footnotes) -> Text:
    measured = [result for result in found if result.head is not None]
    if measured:
        return Text(number(max(result.head.value for result in measured if result.head)))
    if found:
        return notes.mark(found[0].outcome, found[0].reason or found[0].outcome)
    return notes.mark("not here", missing) if missing else notes.mark("–", "not in this suite")
