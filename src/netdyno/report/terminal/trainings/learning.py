"""Trainings to a goal as tables that fit 100 columns: every figure with its 95 % interval over the seeds."""

from collections.abc import Collection, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.report.figures import LEARN, simple_scores
from netdyno.report.names import short_name
from netdyno.report.networks import by_options
from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.terminal.tables import how, matrix_tables, results_tables
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
        shared = shared_words([how(result.cell) for result in group])
        heading = Text(", ".join(filter(None, (title, goal, " ".join(shared)))))
        parts += [*([""] if parts else []), heading, *_tables(group, shared, price_per_hour, notes)]
        if simple := simple_scores(group):
            scores = ", ".join(f"{name} {value:.4f}" for name, value in simple.items())
            parts.append(Text(f"Reached without a network: {scores}."))
    return [*parts, "", notes.lines()] if notes.lines() else parts


def shared_words(texts: Sequence[str]) -> list[str]:
    """The words that all texts have, in the order of the first: what a heading says instead of every line."""
    each = [text.split() for text in texts]
    return [word for word in each[0] if all(word in words for words in each)]


def _tables(
    results: Sequence[Result], shared: Sequence[str], price_per_hour: float | None, notes: Footnotes
) -> list[Table]:
    """One table, or several below each other where the scores need more columns than a line has."""
    figures = shown_figures(results)
    numbers = [_numbers(result, figures, price_per_hour) for result in results]
    headings = [heading for words in figures for heading in (words.heading, INTERVAL)] + [SEEDS, COST]
    kept = [place for place in range(len(headings)) if any(row[place] for row in numbers)]
    rows: dict[str, list[Text]] = {}
    for result, row in zip(results, numbers, strict=True):
        texts = [Text(row[place] or DASH) for place in kept]
        rows[_name(result, shared, rows)] = [*texts, _outcome(result, notes)]
    return matrix_tables("framework", [*(headings[place] for place in kept), "outcome"], rows)


def _name(result: Result, shared: Sequence[str], taken: Collection[str]) -> str:
    """The framework and what sets it apart; results of several machines have a number."""
    own = [word for word in how(result.cell).split() if word not in shared]
    name = " ".join((result.cell.framework, *own))
    same = sum(other == name or other.startswith(f"{name} #") for other in taken)
    return f"{name} #{same + 1}" if same else name


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


def _outcome(result: Result, notes: Footnotes) -> Text:
    wrong = [run for run in result.records if run.outcome != MEASURED]
    if not wrong:
        word = "reached" if "accuracy" in result.cell.goal else "trained"
        return Text(word) if result.verdict == STEADY else notes.mark(word, result.verdict, "yellow")
    return notes.mark(wrong[0].outcome, wrong[0].reason or wrong[0].outcome, "red")


def cost_of(result: Result, price_per_hour: float) -> Estimate | None:
    """What the seconds of training and evaluating cost at a price for the machine."""
    wall = result.figures.get("wall_time")
    if wall is None:
        return None
    low, high = (None if end is None else end / 3600 * price_per_hour for end in (wall.low, wall.high))
    return Estimate(value=wall.value / 3600 * price_per_hour, low=low, high=high, unit="", better="less")
