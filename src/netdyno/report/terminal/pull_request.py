"""Comparisons as Markdown for a pull request: a summary line, a table, and the details folded."""

from collections.abc import Iterable, Sequence

from netdyno.report.terminal.comparisons import Layout, Shown, figure_texts, margin, summary, unit, verdict
from netdyno.report.terminal.footnotes import Footnotes
from netdyno.results.compare.family import CANNOT_TELL, CONFIDENCE, EQUAL
from netdyno.results.compare.pairs import Compared
from netdyno.results.history.changes import differences
from netdyno.text import one_line

AT_ONCE = 12  # pairs shown outside the fold; of more, only those that differ
MARKUP = {ord(mark): f"&#{ord(mark)};" for mark in "&<>|`*_[]\\~@#!$"}
CHANGES = 40


def comparison_markdown(shown: Shown) -> str:
    """A comment in GitHub's Markdown. Every stored text is escaped."""
    differing = [one for one in shown.compared if one.comparison.verdict not in (EQUAL, CANNOT_TELL)]
    first = list(shown.compared) if len(shown.compared) <= AT_ONCE else differing
    notes = Footnotes()
    table = _table(first, shown, notes) if first else ["No cell differs."]
    rest = [] if len(first) == len(shown.compared) else ["", *_table(shown.compared, shown, notes)]
    lines = [
        f"**netdyno compare** {_escaped(summary(shown))}",
        "",
        *table,
        "",
        "<details><summary>What was compared, and how</summary>",
        "",
        *_sides(shown),
        *_changes(shown.compared),
        *rest,
        *(f"- {_escaped(line)}" for line in notes.lines().plain.splitlines()),
        "",
        _method(shown),
        "",
        "</details>",
    ]
    return "\n".join(lines) + "\n"


def _table(compared: Sequence[Compared], shown: Shown, notes: Footnotes) -> list[str]:
    layout = Layout.of(shown.compared)
    head = ("network", "A", "B", f"A {unit(shown)}", f"B {unit(shown)}", "B ÷ A", "effect", "interval", "B is")
    rows = [
        (
            *(layout.label(one), *layout.difference(one)),
            *(text.plain for text in figure_texts(one, shown, notes)),
            verdict(one.comparison, shown),
        )
        for one in compared
    ]
    alignment = "|".join((" --- ",) * 3 + (" ---: ",) * 5 + (" --- ",))
    return [_row(head), f"|{alignment}|", *map(_row, rows)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _sides(shown: Shown) -> list[str]:
    return [f"- {side}: {_escaped(text)}" for side, text in (("A", shown.a), ("B", shown.b))]


def _changes(compared: Sequence[Compared]) -> list[str]:
    """What was recorded differently on the two sides, each change once."""
    found = {
        f"- {_escaped(change.field)}: {_escaped(change.before)} → {_escaped(change.after)}"
        for one in compared
        for change in differences(one.a.recorded, one.b.recorded)
    }
    if not found:
        return ["- Nothing else that was recorded differs."]
    kept = sorted(found)[:CHANGES]
    return kept if len(kept) == len(found) else [*kept, f"- … and {len(found) - len(kept)} more"]


def _method(shown: Shown) -> str:
    return (
        "Intervals are Welch's t on the logarithms of the runs. Verdicts are adjusted by Holm's method: with "
        f"{100 * CONFIDENCE:.4g} % confidence no pair of the table is called different that is not; *equal* means "
        f"within {_escaped(margin(shown))} at that confidence."
    )


def _escaped(text: str) -> str:
    return one_line(text).translate(MARKUP)
