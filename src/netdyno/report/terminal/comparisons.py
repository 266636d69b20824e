"""Comparisons as a table of 100 columns and a summary line; as Markdown see pull_request."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.report.names import short_name
from netdyno.report.terminal.console import MOST_ROWS
from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.terminal.tables import new_table
from netdyno.report.vocabulary import display_unit
from netdyno.results.cell import FIELDS
from netdyno.results.compare.family import CANNOT_TELL, EQUAL, Comparison
from netdyno.results.compare.pairs import Compared, Overall
from netdyno.results.compare.question import Question
from netdyno.results.compare.side import Side
from netdyno.results.result import NOT_MEASURED, STEADY
from netdyno.results.words import number
from netdyno.text import one_line

CELL_WIDTH = 38
FAR_PERCENT = 1e6
LABELLED = ("framework", "device", "precision", "execution", "data", "threads", "ranks", "strategy", "machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A finished comparison, ready for a table, Markdown or JSON."""

    a: str  # as the user named the side
    b: str
    compared: tuple[Compared, ...]
    overall: Overall | None
    question: Question


def comparison_parts(shown: Shown) -> list[RenderableType]:
    """The two sides, one line per pair, and a summary in one sentence."""
    heads = [Text(f"{side}: {one_line(text)}", overflow="fold") for side, text in (("A", shown.a), ("B", shown.b))]
    notes = Footnotes()
    table = _table(shown, notes)
    count = len(shown.compared)
    cut = [Text(f"Shown: the first {MOST_ROWS:,} of {count:,}; --json has all of them.")] if count > MOST_ROWS else []
    return [*heads, "", table, *cut, "", Text(summary(shown)), *([notes.lines()] if notes.lines() else [])]


def summary(shown: Shown) -> str:
    """How many pairs have each verdict, and their geometric mean."""
    metric = shown.question
    counts = Counter(one.comparison.verdict for one in shown.compared)
    words = {metric.smaller: metric.smaller, metric.larger: metric.larger, EQUAL: f"equal within {margin(shown)}"}
    parts = [f"{counts[verdict]} {word}" for verdict, word in words.items() if counts[verdict]]
    parts += [f"{counts[CANNOT_TELL]} cannot tell"] if counts[CANNOT_TELL] else []
    cells = f"{len(shown.compared)} comparison{'s' if len(shown.compared) > 1 else ''}"
    return f"B against A in {cells} of {metric.unit}: {', '.join(parts)}. {_overall(shown)}".strip()


def margin(shown: Shown) -> str:
    """The margin of equality in percent."""
    return f"{100 * shown.question.margin:.4g} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which fields a table of these pairs shows."""

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
        """The pair's cell, without the fields in which its sides differ."""
        networks = dict.fromkeys(f"{short_name(r.cell.network)}/{r.cell.dataset}" for r in (one.a, one.b))
        batch = [] if "batch" in self.differing else [f"b{one.a.cell.batch}"]
        return one_line(" ".join([" → ".join(networks), *batch, *(_value(one.a, name) for name in self.varying)]))

    def difference(self, one: Compared) -> tuple[str, str]:
        """How the sides differ: the fields in which pairs differ, else the series."""
        if not self.differing:
            return f"series {one.a.series}", f"series {one.b.series}"
        a, b = (one_line(" ".join(_value(result, name) for name in self.differing)) for result in (one.a, one.b))
        return a, b


def figure_texts(one: Compared, shown: Shown, notes: Footnotes) -> list[Text]:
    """Both figures, their ratio, the effect and its interval; what is weak about a figure goes to `notes`."""
    ratio = one.comparison.ratio
    texts = ("–" if ratio is None else f"{ratio:.4f}", effect(ratio), interval(one.comparison))
    return [*(_marked(result, shown, notes) for result in (one.a, one.b)), *map(Text, texts)]


def figure(side: Side, shown: Shown) -> str:
    """The mean of the runs' figures, in a unit that people read."""
    if not side.values:
        return "–"
    mean = sum(side.values) / len(side.values)
    _, scale = display_unit(shown.question.unit)
    return number(mean) if scale == 1 else f"{scale * mean:,.1f}"


def unit(shown: Shown) -> str:
    """The unit of `figure`."""
    return display_unit(shown.question.unit)[0]


def effect(ratio: float | None) -> str:
    """By how many percent B has more or less."""
    return "–" if ratio is None else f"{100 * (ratio - 1):+.2f} %".replace("-", "−")


def interval(comparison: Comparison) -> str:
    """The interval of the effect."""
    if comparison.low is None or comparison.high is None:
        return "–"
    return interval_of(comparison.low, comparison.high)


def interval_of(low: float, high: float) -> str:
    """Two ratios in percent."""
    return " … ".join(_percent(100 * (end - 1)) for end in (low, high)) + " %"


def _percent(value: float) -> str:
    """An end far out, as of a single run among many, in few digits."""
    return (f"{value:+.2f}" if value < FAR_PERCENT else f"{value:+.0e}").replace("-", "−")


def verdict(comparison: Comparison, shown: Shown) -> str:
    """The verdict, with its margin or reason."""
    if comparison.low is None:
        return f"{comparison.verdict}: {one_line(comparison.reason)}"
    if comparison.verdict == EQUAL:
        return f"equal within {margin(shown)}"
    is_small = comparison.is_within_margin and comparison.verdict != CANNOT_TELL
    return f"{comparison.verdict}, under {margin(shown)}" if is_small else comparison.verdict


def _marked(side: Side, shown: Shown, notes: Footnotes) -> Text:
    if side.verdict in (STEADY, NOT_MEASURED):
        return Text(figure(side, shown))
    return notes.mark(figure(side, shown), one_line(side.verdict), "")


def _table(shown: Shown, notes: Footnotes) -> Table:
    layout = Layout.of(shown.compared)
    is_sided = len({layout.difference(one) for one in shown.compared}) > 1
    figures = (f"A {unit(shown)}", f"B {unit(shown)}", "B ÷ A", "effect", "interval")
    table = new_table("network", *(("A", "B") if is_sided else ()), *figures, "B is", right=figures)
    for column in table.columns[: 3 if is_sided else 1]:
        column.no_wrap, column.max_width = False, CELL_WIDTH
    for one in shown.compared[:MOST_ROWS]:
        names = [layout.label(one), *(layout.difference(one) if is_sided else ())]
        texts = figure_texts(one, shown, notes)
        table.add_row(*map(Text, names), *texts, _coloured(one.comparison, shown))
    return table


def _coloured(comparison: Comparison, shown: Shown) -> Text:
    metric = shown.question
    colours = {metric.larger: "green", metric.smaller: "green", metric.worse: "red", CANNOT_TELL: "yellow"}
    return Text(verdict(comparison, shown), style=colours.get(comparison.verdict, ""))


def _overall(shown: Shown) -> str:
    whole = shown.overall
    if whole is None or whole.cells == 1:
        return ""
    ratio = f"{whole.comparison.ratio:.4f} ({interval(whole.comparison)})"
    return f"Geometric mean of {whole.cells}: {ratio}, {verdict(whole.comparison, shown)}."


def _value(side: Side, name: str) -> str:
    return str(getattr(side if name == "machine" else side.cell, name))
