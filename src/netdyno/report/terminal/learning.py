"""What courses came to, in tables that fit 100 columns: accuracy and what it took, over seeds."""

from collections.abc import Sequence

from rich.console import RenderableType

from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.terminal.tables import how, new_table
from netdyno.results.course import TRAINED, CourseResult, Spread

NUMBERS = ("accuracy", "range", "train s", "range ", "seeds")


def course_tables(results: Sequence[CourseResult], price_per_hour: float | None) -> list[RenderableType]:
    """A table for each network, source and goal: a line for each framework and manner, then what went wrong."""
    notes = Footnotes()
    parts: list[RenderableType] = []
    groups: dict[tuple[str, str], list[CourseResult]] = {}
    for result in results:
        cell = result.cell
        title = f"{cell.network}/{cell.dataset} b{cell.batch}"
        groups.setdefault((f"{title} on {result.courses[0].source}", result.courses[0].goal), []).append(result)
    for (title, goal), group in groups.items():
        parts += [*([""] if parts else []), f"{title}, {goal}", _table(group, price_per_hour, notes)]
    return [*parts, "", notes.lines()] if notes.lines() else parts


def _table(results: Sequence[CourseResult], price_per_hour: float | None, notes: Footnotes) -> RenderableType:
    energy = any(result.spread("energy_j") for result in results)
    more = (*(("kJ",) if energy else ()), *(("cost",) if price_per_hour is not None else ()))
    table = new_table("framework", "how", *NUMBERS, *more, "outcome", right=(*NUMBERS, *more))
    for result in results:
        accuracy, seconds, joules = (result.spread(name) for name in ("accuracy", "train_s", "energy_j"))
        cost = None if price_per_hour is None else result.cost(price_per_hour)
        table.add_row(
            result.cell.framework,
            how(result.cell),
            _mean(accuracy, "{:.4f}"),
            _range(accuracy, "{:.4f}"),
            _mean(seconds, "{:.1f}"),
            _range(seconds, "{:.1f}"),
            f"{result.reached} of {len(result.courses)}",
            *((_mean(joules, "{:.3g}", 1e-3),) if energy else ()),
            *((_mean(cost, "{:.3g}"),) if price_per_hour is not None else ()),
            _outcome(result, notes),
        )
    return table


def _outcome(result: CourseResult, notes: Footnotes) -> RenderableType:
    wrong = [course for course in result.courses if course.outcome != TRAINED]
    if not wrong:
        return "reached" if "accuracy" in result.courses[0].goal else TRAINED
    return notes.mark(wrong[0].outcome, wrong[0].reason or wrong[0].outcome, "red")


def _mean(spread: Spread | None, form: str, factor: float = 1.0) -> str:
    return "–" if spread is None else form.format(factor * spread.mean)


def _range(spread: Spread | None, form: str) -> str:
    if spread is None or spread.low == spread.high:
        return "–"
    return f"{form.format(spread.low)}–{form.format(spread.high)}"
