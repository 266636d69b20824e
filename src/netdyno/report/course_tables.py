"""What courses came to, in tables that fit 100 columns: accuracy and what it took, over seeds."""

from collections.abc import Sequence

from rich.console import RenderableType

from netdyno.report.footnotes import Footnotes
from netdyno.report.tables import how, new_table
from netdyno.results.figure import Estimate
from netdyno.results.record import MEASURED
from netdyno.results.result import Result

NUMBERS = ("accuracy", "range", "train s", "range ", "seeds")


def course_tables(results: Sequence[Result], price_per_hour: float | None) -> list[RenderableType]:
    """A table for each network, source and goal: a line for each framework and manner, then what went wrong."""
    notes = Footnotes()
    parts: list[RenderableType] = []
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        cell = result.cell
        title = f"{cell.network}/{cell.dataset} b{cell.batch}"
        groups.setdefault((f"{title} on {cell.source}", cell.goal), []).append(result)
    for (title, goal), group in groups.items():
        parts += [*([""] if parts else []), f"{title}, {goal}", _table(group, price_per_hour, notes)]
    return [*parts, "", notes.lines()] if notes.lines() else parts


def _table(results: Sequence[Result], price_per_hour: float | None, notes: Footnotes) -> RenderableType:
    energy = any(result.figures.get("energy") for result in results)
    more = (*(("kJ",) if energy else ()), *(("cost",) if price_per_hour is not None else ()))
    table = new_table("framework", "how", *NUMBERS, *more, "outcome", right=(*NUMBERS, *more))
    for result in results:
        accuracy, seconds, joules = (result.figures.get(name) for name in ("accuracy", "train_time", "energy"))
        cost = None if price_per_hour is None else cost_of(result, price_per_hour)
        table.add_row(
            result.cell.framework,
            how(result.cell),
            _mean(accuracy, "{:.4f}"),
            _range(accuracy, "{:.4f}"),
            _mean(seconds, "{:.1f}"),
            _range(seconds, "{:.1f}"),
            f"{result.reached} of {len(result.records)}",
            *((_mean(joules, "{:.3g}", 1e-3),) if energy else ()),
            *((_mean(cost, "{:.3g}"),) if price_per_hour is not None else ()),
            _outcome(result, notes),
        )
    return table


def _outcome(result: Result, notes: Footnotes) -> RenderableType:
    wrong = [run for run in result.records if run.outcome != MEASURED]
    if not wrong:
        return "reached" if "accuracy" in result.cell.goal else "trained"
    return notes.mark(wrong[0].outcome, wrong[0].reason or wrong[0].outcome, "red")


def _mean(estimate: Estimate | None, form: str, factor: float = 1.0) -> str:
    return "–" if estimate is None else form.format(factor * estimate.value)


def _range(estimate: Estimate | None, form: str) -> str:
    if estimate is None or estimate.low is None or estimate.low == estimate.high:
        return "–"
    return f"{form.format(estimate.low)}–{form.format(estimate.high)}"


def cost_of(result: Result, price_per_hour: float) -> Estimate | None:
    """What the seconds of training and evaluating cost at a price for the machine."""
    wall = result.figures.get("wall_time")
    if wall is None:
        return None
    low, high = (None if end is None else end / 3600 * price_per_hour for end in (wall.low, wall.high))
    return Estimate(value=wall.value / 3600 * price_per_hour, low=low, high=high, unit="", better="less")
