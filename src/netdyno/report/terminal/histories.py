"""A cell's history in the terminal: a sparkline, a line per series, and its steps with the changes at each."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.report.names import short_name, short_reason
from netdyno.report.terminal.comparisons import effect, interval_of
from netdyno.report.terminal.tables import how, new_table
from netdyno.report.vocabulary import Wording, margin, wording
from netdyno.results.history.changes import Change, changes
from netdyno.results.history.series import History, Turn, started_at
from netdyno.results.result import Result
from netdyno.results.words import DASH
from netdyno.text import one_line

BARS = "▁▂▃▄▅▆▇█"
MARKS = 60  # of a sparkline
LEAST_RANGE = 0.02  # of the value that a sparkline spans at least, so that noise does not fill its height
MINUTES = 16  # characters of an ISO time up to the minute
VERSION = "versions."


def history_parts(history: History) -> list[RenderableType]:
    """Everything about one cell."""
    cell = history.cell
    name = f"{short_name(cell.network)}/{cell.dataset} {cell.framework} {how(cell)} {cell.data} b{cell.batch}"
    head = Text(one_line(f"{name} on {history.machine}"), style="bold")
    return [head, Text(sparkline(history.values)), _table(history), *_turns(history), Text(said(history))]


def said(history: History) -> str:
    """Whether the history has steps, in one sentence."""
    count = len(history.measured)
    if not history.can_tell:
        there_are = {0: "nothing was measured", 1: "there is one series"}.get(count, "there are two series")
        return f"Cannot tell steps from noise: {there_are}, three are needed. Next: netdyno run --again"
    if history.turns:
        return f"{len(history.turns)} step{'s' if len(history.turns) > 1 else ''} in {count} series."
    assert history.smallest is not None
    return f"No step in {count} series. One of {100 * (history.smallest - 1):.2g} % would have been seen."


def sparkline(values: Sequence[float]) -> str:
    """A mark for each value, or for several where there are many."""
    if not values:
        return ""
    each = -(-len(values) // MARKS)
    groups = [values[first : first + each] for first in range(0, len(values), each)]
    means = [sum(group) / len(group) for group in groups]
    middle = (min(means) + max(means)) / 2
    span = max(max(means) - min(means), LEAST_RANGE * middle)
    low = middle - span / 2
    return "".join(BARS[min(int((mean - low) / span * len(BARS)), len(BARS) - 1)] for mean in means)


def _table(history: History) -> Table:
    words = _wording(history)
    unit = words.heading if words else "figure"
    numbers = ("series", unit, "95 %", "runs", "change")
    table = new_table("started (UTC)", *numbers, "versions", right=numbers)
    firsts = {id(turn.result) for turn in history.turns}
    before: Result | None = None
    for result in history.results:
        mark = "◆ " if id(result) in firsts else "  "
        table.add_row(*map(Text, _row(result, before, words)), Text(mark + _versions(result, before)))
        before = result if result.measured else before
    return table


def _wording(history: History) -> Wording | None:
    """How the figure is shown; None where nothing was measured."""
    found = next((result.figures[history.figure] for result in history.measured), None)
    return wording(history.cell.workload, history.figure, found.unit, found.better) if found else None


def _row(result: Result, before: Result | None, words: Wording | None) -> list[str]:
    name = words.name if words else ""
    head, earlier = result.figures.get(name), before.figures.get(name) if before else None
    change = effect(head.value / earlier.value) if head and earlier and earlier.value else ""
    value = words.text(head.value) if words and head else DASH
    when = one_line(started_at(result)[:MINUTES].replace("T", " "))
    return [when, str(result.series), value, margin(head), str(result.runs), change]


def _versions(result: Result, before: Result | None) -> str:
    """All versions at first, then those that changed; the reason where nothing was measured."""
    if not result.measured:
        return one_line(f"{result.outcome}: {short_reason(result.reason)}" if result.reason else result.outcome)
    if before is None:
        return one_line(
            ", ".join(f"{library} {version}" for library, version in result.measured[-1].versions.items())
        )
    found = [change for change in changes(before, result) if change.field.startswith(VERSION)]
    return one_line(", ".join(_changed(change, change.field.removeprefix(VERSION)) for change in found))


def _turns(history: History) -> list[RenderableType]:
    return [Text("\n".join(["", *_turn(turn)])) for turn in history.turns]


def _turn(turn: Turn) -> list[str]:
    step = turn.step
    when = started_at(turn.result)[:MINUTES].replace("T", " ")
    size = f"{effect(step.ratio)} ({interval_of(step.low, step.high)})"
    weak = "" if step.is_certain else "; one series so far, which may be an outlier: measure again"
    lines = [f"◆ series {turn.result.series}, {when}: {size}{weak}"]
    lines += [f"    {_changed(change, change.field)}" for change in turn.changes]
    return [indented_line(line) for line in lines] + ([] if turn.changes else ["    nothing recorded changed"])


def _changed(change: Change, name: str) -> str:
    return f"{name} {change.before} → {change.after}"


def indented_line(line: str) -> str:
    """Like `one_line`, but keep the indentation."""
    return line[: len(line) - len(line.lstrip(" "))] + one_line(line)
