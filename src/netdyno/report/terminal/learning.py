"""Trainings to a goal as tables that fit 100 columns: every figure with its 95 % interval over the seeds."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from netdyno.report.figures import LEARN, simple_scores
from netdyno.report.names import short_name
from netdyno.report.networks import by_options
from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.terminal.tables import how, new_table, results_tables
from netdyno.report.vocabulary import Wording, shown_figures
from netdyno.results.figure import Estimate
from netdyno.results.record import MEASURED
from netdyno.results.result import STEADY, Result
from netdyno.results.words import DASH

INTERVAL = "95 %"
SEEDS, COST = "seeds", "cost"


def tables_of_every_kind(results: Sequence[Result]) -> list[RenderableType]:
    """Those of all other workloads, then those of trainings to a goal."""
    learned = [result for result in results if result.cell.workload == LEARN]
    timed = [result for result in results if result.cell.workload != LEARN]
    parts = results_tables(timed) if timed else []
    more = learning_tables(learned, None) if learned else []
    return [*parts, "", *more] if parts and more else parts + more


def learning_tables(results: Sequence[Result], price_per_hour: float | None) -> list[RenderableType]:
    """A table for each network, source and goal with a line for each framework and execution; then the failures."""
    notes = Footnotes()
    parts: list[RenderableType] = []
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        cell = result.cell
        title = f"{short_name(cell.network)}/{cell.dataset} b{cell.batch} on {cell.source}"
        groups.setdefault((title, cell.goal), []).append(result)
    for (title, goal), found in groups.items():
        group = sorted(found, key=lambda result: by_options(result.cell))
        parts += [*([""] if parts else []), Text(f"{title}, {goal}"), _table(group, price_per_hour, notes)]
        if simple := simple_scores(group):
            scores = ", ".join(f"{name} {value:.4f}" for name, value in simple.items())
            parts.append(Text(f"Reached without a network: {scores}."))
    return [*parts, "", notes.lines()] if notes.lines() else parts


def _table(results: Sequence[Result], price_per_hour: float | None, notes: Footnotes) -> RenderableType:
    figures = shown_figures(results)
    rows = [_numbers(result, figures, price_per_hour) for result in results]
    headings = [heading for words in figures for heading in (words.heading, INTERVAL)] + [SEEDS, COST]
    kept = [place for place in range(len(headings)) if any(row[place] for row in rows)]
    table = new_table("framework", "how", *(headings[place] for place in kept), "outcome", right=headings)
    for result, row in zip(results, rows, strict=True):
        texts = (result.cell.framework, how(result.cell), *(row[place] or DASH for place in kept))
        table.add_row(*map(Text, texts), _outcome(result, notes))
    return table


def _numbers(result: Result, shown: Sequence[Wording], price_per_hour: float | None) -> list[str]:
    """A text for each heading; empty where there is nothing to say."""
    cost = None if price_per_hour is None else cost_of(result, price_per_hour)
    pairs = [(words, result.figures.get(words.name)) for words in shown]
    texts = [
        text
        for words, found in pairs
        for text in (words.brief(found.value) if found else "", _interval(words, found))
    ]
    return [*texts, f"{result.reached} of {len(result.records)}", f"{cost.value:.3g}" if cost else ""]


def _interval(words: Wording, found: Estimate | None) -> str:
    if found is None or found.low is None or found.high is None:
        return ""
    low, high = words.brief(found.low), words.brief(found.high)
    return "" if low == high else f"{low}–{high}"


def _outcome(result: Result, notes: Footnotes) -> RenderableType:
    wrong = [run for run in result.records if run.outcome != MEASURED]
    if not wrong:
        word = "reached" if "accuracy" in result.cell.goal else "trained"
        return word if result.verdict == STEADY else notes.mark(word, result.verdict, "yellow")
    return notes.mark(wrong[0].outcome, wrong[0].reason or wrong[0].outcome, "red")


def cost_of(result: Result, price_per_hour: float) -> Estimate | None:
    """What the seconds of training and evaluating cost at a price for the machine."""
    wall = result.figures.get("wall_time")
    if wall is None:
        return None
    low, high = (None if end is None else end / 3600 * price_per_hour for end in (wall.low, wall.high))
    return Estimate(value=wall.value / 3600 * price_per_hour, low=low, high=high, unit="", better="less")
