"""Comparisons as a table of 100 columns and a summary line; as Markdown see comparisons_markdown."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.report.footnotes import Footnotes
from netdyno.report.tables import new_table
from netdyno.results.cell import FIELDS
from netdyno.results.compare.family import CANNOT_TELL, EQUAL, Comparison
from netdyno.results.compare.pairs import Compared, Overall
from netdyno.results.compare.question import Question
from netdyno.results.result import NOT_MEASURED, STEADY, Result
from netdyno.results.statistics import value_of
from netdyno.results.words import number

MIB = 2**20
CELL_WIDTH = 38
CONTROL = dict.fromkeys((*range(32), *range(127, 160)))
LABELLED = ("framework", "device", "precision", "execution", "data", "threads", "machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A finished comparison: everything that a table, a page of Markdown or JSON needs to know."""

    a: str  # as the user named the side
    b: str
    compared: tuple[Compared, ...]
    overall: Overall | None
    question: Question


def comparison_parts(shown: Shown) -> list[RenderableType]:
    """What the sides are, one line per pair, and the whole in one sentence."""
    heads = [Text(f"{side}: {plain(text)}", overflow="fold") for side, text in (("A", shown.a), ("B", shown.b))]
    notes = Footnotes()
    table = _table(shown, notes)
    return [*heads, "", table, "", Text(summary(shown)), *([notes.lines()] if notes.lines() else [])]


def summary(shown: Shown) -> str:
    """How many cells fared how, and their geometric mean."""
    metric = shown.question
    counts = Counter(one.comparison.verdict for one in shown.compared)
    words = {metric.smaller: metric.smaller, metric.larger: metric.larger, EQUAL: f"equal within {margin(shown)}"}
    told = [f"{counts[verdict]} {word}" for verdict, word in words.items() if counts[verdict]]
    told += [f"{counts[CANNOT_TELL]} cannot tell"] if counts[CANNOT_TELL] else []
    cells = f"{len(shown.compared)} comparison{'s' if len(shown.compared) > 1 else ''}"
    return f"B against A in {cells} of {metric.unit}: {', '.join(told)}. {_overall(shown)}".strip()


def margin(shown: Shown) -> str:
    """The margin of equality in percent."""
    return f"{100 * shown.question.margin:.4g} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which fields are worth a word in a table of these pairs."""

    differing: tuple[str, ...]  # between the two sides of a pair
    varying: tuple[str, ...]  # from one pair to another

    @classmethod
    def of(cls, compared: Sequence[Compared]) -> "Layout":
        pairs = [(one.a, one.b) for one in compared]
        names = (*FIELDS, "machine")
        differing = tuple(name for name in names if any(_value(a, name) != _value(b, name) for a, b in pairs))
        others = (name for name in LABELLED if name not in differing)
        return cls(differing=differing, varying=tuple(n for n in others if len({_value(a, n) for a, _ in pairs}) > 1))

    def label(self, one: Compared) -> str:
        """The pair's cell, without what tells its sides apart."""
        networks = dict.fromkeys(f"{result.cell.network}/{result.cell.dataset}" for result in (one.a, one.b))
        batch = [] if "batch" in self.differing else [f"b{one.a.cell.batch}"]
        return plain(" ".join([" → ".join(networks), *batch, *(_value(one.a, name) for name in self.varying)]))

    def difference(self, one: Compared) -> tuple[str, str]:
        """What tells the sides apart: the fields in which pairs differ, else the series."""
        if not self.differing:
            return f"series {one.a.series}", f"series {one.b.series}"
        a, b = (plain(" ".join(_value(result, name) for name in self.differing)) for result in (one.a, one.b))
        return a, b


def figures_of(one: Compared, shown: Shown, notes: Footnotes) -> list[Text]:
    """Both figures, their ratio, the effect and its interval; what is weak about a figure goes to `notes`."""
    ratio = one.comparison.ratio
    told = ("–" if ratio is None else f"{ratio:.4f}", effect(ratio), interval(one.comparison))
    return [*(_marked(result, shown, notes) for result in (one.a, one.b)), *map(Text, told)]


def figure(result: Result, shown: Shown) -> str:
    """The mean of the runs' figures, in a unit that people read."""
    values = run_values(result, shown)
    if not values:
        return "–"
    mean = sum(values) / len(values)
    return f"{mean / MIB:,.1f}" if shown.question.unit == "bytes" else number(mean)


def run_values(result: Result, shown: Shown) -> list[float]:
    """The figure of each run that has it."""
    name = shown.question.figure
    return [value_of(run.figures[name], run) for run in result.measured if name in run.figures]


def unit(shown: Shown) -> str:
    """Of what `figure` says."""
    return "MiB" if shown.question.unit == "bytes" else shown.question.unit


def effect(ratio: float | None) -> str:
    """By how many percent B has more or less."""
    return "–" if ratio is None else f"{100 * (ratio - 1):+.2f} %".replace("-", "−")


def interval(comparison: Comparison) -> str:
    """The same of the interval's ends."""
    if comparison.low is None or comparison.high is None:
        return "–"
    return interval_of(comparison.low, comparison.high)


def interval_of(low: float, high: float) -> str:
    """Two ratios in percent."""
    return " … ".join(f"{100 * (end - 1):+.2f}".replace("-", "−") for end in (low, high)) + " %"


def verdict(comparison: Comparison, shown: Shown) -> str:
    """The verdict, with what has to be said beside it."""
    if comparison.low is None:
        return f"{comparison.verdict}: {plain(comparison.reason)}"
    if comparison.verdict == EQUAL:
        return f"equal within {margin(shown)}"
    is_small = comparison.is_within_margin and comparison.verdict != CANNOT_TELL
    return f"{comparison.verdict}, under {margin(shown)}" if is_small else comparison.verdict


def plain(text: str) -> str:
    """One line that no terminal can mistake for a command."""
    return " ".join(text.split()).translate(CONTROL)


def _marked(result: Result, shown: Shown, notes: Footnotes) -> Text:
    if result.verdict in (STEADY, NOT_MEASURED):
        return Text(figure(result, shown))
    return notes.mark(figure(result, shown), plain(result.verdict), "")


def _table(shown: Shown, notes: Footnotes) -> Table:
    layout = Layout.of(shown.compared)
    is_sided = len({layout.difference(one) for one in shown.compared}) > 1
    figures = (f"A {unit(shown)}", f"B {unit(shown)}", "B ÷ A", "effect", "interval")
    table = new_table("network", *(("A", "B") if is_sided else ()), *figures, "B is", right=figures)
    for column in table.columns[: 3 if is_sided else 1]:
        column.no_wrap, column.max_width = False, CELL_WIDTH
    for one in shown.compared:
        names = [layout.label(one), *(layout.difference(one) if is_sided else ())]
        figures_told = figures_of(one, shown, notes)
        table.add_row(*map(Text, names), *figures_told, _coloured(one.comparison, shown))
    return table


def _coloured(comparison: Comparison, shown: Shown) -> Text:
    metric = shown.question
    colours = {metric.larger: "green", metric.smaller: "green", CANNOT_TELL: "yellow"} | {metric.worse: "red"}
    return Text(verdict(comparison, shown), style=colours.get(comparison.verdict, ""))


def _overall(shown: Shown) -> str:
    whole = shown.overall
    if whole is None or whole.cells == 1:
        return ""
    told = f"{whole.comparison.ratio:.4f} ({interval(whole.comparison)})"
    return f"Geometric mean of {whole.cells}: {told}, {verdict(whole.comparison, shown)}."


def _value(result: Result, name: str) -> str:
    if name == "options":
        return result.cell.options_text()
    return str(getattr(result if name == "machine" else result.cell, name))
