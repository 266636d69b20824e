"""What the page shows of trainings to a goal: their learning curves, and a table of their figures over the seeds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netdyno.report.charts.palette import look
from netdyno.report.names import short_name, short_reason
from netdyno.report.networks import by_options
from netdyno.report.page.sections import Picture
from netdyno.report.page.trainings.curves import curves_pictures
from netdyno.report.page.trainings.pictures import FindPictures, Sheet, sheet_of
from netdyno.report.terminal.tables import how
from netdyno.report.vocabulary import Wording, shown_figures
from netdyno.results.record import MEASURED
from netdyno.results.result import Result

MOST_CHARTS = 8
Key = tuple[str, str, int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLine:
    """The trainings of one framework to one goal, in words; `figures` are in the order of the table's columns."""

    name: str
    css: str
    how: str
    figures: tuple[str, ...]
    seeds: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One network, its data and a goal: the chart of all frameworks, and their figures."""

    network: str
    title: str
    goal: str
    pictures: tuple[Picture, ...]  # learning curves
    columns: tuple[str, ...]  # headings of the figures
    sheet: Sheet | None  # of what the networks draw
    lines: tuple[TrainingLine, ...]


def trainings(results: Iterable[Result], find: FindPictures | None = None) -> list[Training]:
    """The newest training of each seed, grouped by network, data and goal; `find` gives what networks drew."""
    groups: dict[Key, list[Result]] = {}
    for result in results:
        cell = result.cell
        groups.setdefault((cell.network, cell.dataset, cell.batch, cell.source, cell.goal), []).append(result)
    return [
        _training(key, found, place < MOST_CHARTS, find) for place, (key, found) in enumerate(sorted(groups.items()))
    ]


def _training(key: Key, results: Sequence[Result], is_drawn: bool, find: FindPictures | None) -> Training:
    network, dataset, batch, source, goal = key
    columns = shown_figures(results)
    ordered = sorted(results, key=lambda each: by_options(each.cell))
    return Training(
        network=network,
        title=f"{short_name(network)}/{dataset}, batch {batch}, on {source}",
        goal=goal,
        pictures=tuple(curves_pictures(results, _title(results))) if is_drawn else (),
        columns=tuple(words.heading for words in columns),
        sheet=sheet_of(ordered, find) if is_drawn else None,
        lines=tuple(_line(result, columns) for result in ordered),
    )


def _title(results: Sequence[Result]) -> str:
    return (
        "Loss while training" if any(result.headline == "loss" for result in results) else "Accuracy while training"
    )


def _line(result: Result, columns: Sequence[Wording]) -> TrainingLine:
    framework, figures = look(result.cell.framework), result.figures
    wrong = [run for run in result.records if run.outcome != MEASURED]
    values = (figures.get(words.name) for words in columns)
    return TrainingLine(
        name=framework.name,
        css=framework.css,
        how=how(result.cell),
        figures=tuple(w.text(each.value if each else None) for w, each in zip(columns, values, strict=True)),
        seeds=f"{result.reached} of {len(result.records)}",
        outcome=": ".join(filter(None, (wrong[0].outcome, short_reason(wrong[0].reason)))) if wrong else "trained",
    )
