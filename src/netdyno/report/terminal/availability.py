"""The results of a suite as a matrix: every framework on every network, its main figure or the reason for none."""

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from netdyno.report.names import short_names
from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.terminal.tables import matrix_tables
from netdyno.report.vocabulary import wording_of
from netdyno.results.cell import Cell
from netdyno.results.result import Result


def availability(
    cells: Sequence[Cell], results: Sequence[Result], missing: Mapping[str, str]
) -> list[RenderableType]:
    """Tables for each dataset with a line for each framework: the figure of its best execution; then the reasons."""
    notes = Footnotes()
    frameworks = sorted({cell.framework for cell in cells})
    parts: list[RenderableType] = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        networks = list(dict.fromkeys(cell.network for cell in cells if cell.dataset == dataset))
        names = short_names(set(networks))
        columns = [names[network] for network in networks]
        rows = {}
        for framework in frameworks:
            chosen = [[r for r in results if _is(r.cell, framework, network, dataset)] for network in networks]
            rows[framework] = [_best(found, missing.get(framework, ""), notes) for found in chosen]
        for table in matrix_tables(f"{dataset}{_unit(results)}", columns, rows):
            parts += ["", table]
    lines = notes.lines()
    return [*parts, "", lines] if lines else parts


def _unit(results: Sequence[Result]) -> str:
    """Such as ": images/s"; nothing where nothing was measured."""
    units = [wording_of(result).heading for result in results if result.head]
    return f": {units[0]}" if units else ""


def _is(cell: Cell, framework: str, network: str, dataset: str) -> bool:
    return (cell.framework, cell.network, cell.dataset) == (framework, network, dataset)


def _best(found: Sequence[Result], missing: str, notes: Footnotes) -> Text:
    heads = [(wording_of(result), head) for result in found if (head := result.head)]
    if heads:
        words = heads[0][0]
        best = max if words.more_is_better else min
        return Text(words.text(best(head.value for _, head in heads)))
    if found:
        return notes.mark_failure(found[0], "dim")
    return notes.mark("not here", missing) if missing else notes.mark("–", "not in this suite")
