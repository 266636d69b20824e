"""More and fewer nodes as tables that fit 100 columns: the error of each, and whether the survey's rule held."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from netdyno.report.names import short_name
from netdyno.report.sweeps import Sweep, Trained, others, step_mflop, sweeps
from netdyno.report.terminal.tables import new_table
from netdyno.results.result import Result
from netdyno.results.words import DASH, number


def nodes_tables(results: Sequence[Result]) -> list[RenderableType]:
    """A table and a sentence for each network that was trained with several numbers of nodes."""
    return [part for sweep in sweeps(results) for part in ("", _title(sweep), _table(sweep), Text(sweep.sentence()))]


def _title(sweep: Sweep) -> Text:
    cell = sweep.cell
    words = [f"{short_name(cell.network)}/{cell.dataset}", *others(cell, sweep.rule.option), cell.framework]
    return Text(f"{' '.join(words)}, {cell.goal}: {sweep.rule.option}")


def _table(sweep: Sweep) -> RenderableType:
    kind = "error" if sweep.trained[0].error.is_share else "loss"
    columns = (sweep.rule.option, "MFLOP/item", "train s", "seeds", kind, "the survey's")
    table = new_table(*columns, right=columns[:4])
    for each in sweep.trained:
        table.add_row(*map(Text, _texts(each)))
    return table


def _texts(trained: Trained) -> tuple[str, ...]:
    cost, seconds = step_mflop(trained.result), trained.result.figures.get("train_time")
    flops = number(cost) if cost else DASH
    advised = "yes" if trained.follows else "no"
    time = f"{seconds.value:.1f}" if seconds else DASH
    return trained.label, flops, time, str(trained.result.runs), trained.error.words(), advised
