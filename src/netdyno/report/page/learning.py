"""What the page shows of trainings to a goal: their learning curves, and a table of their figures over the seeds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from netdyno.report.charts import Line, Point, learning_chart
from netdyno.report.charts.palette import look
from netdyno.report.names import short_name, short_reason
from netdyno.report.page.pictures import FindPictures, Sheet, sheet_of
from netdyno.report.page.sections import Picture
from netdyno.report.terminal.tables import how
from netdyno.report.vocabulary import Wording, shown_figures
from netdyno.results.record import MEASURED, Evaluation
from netdyno.results.result import Result

MOST_CHARTS = 8
CHART = "Accuracy while training"
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

    title: str
    goal: str
    picture: Picture | None
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
    return Training(
        title=f"{short_name(network)}/{dataset}, batch {batch}, on {source}",
        goal=goal,
        picture=_picture(results) if is_drawn else None,
        columns=tuple(words.heading for words in columns),
        sheet=sheet_of(results, find) if is_drawn else None,
        lines=tuple(_line(result, columns) for result in results),
    )


def _picture(results: Sequence[Result]) -> Picture | None:
    lines = [line for result in results for line in _curves(result)]
    if not lines:
        return None
    classifies = any(each.accuracy is not None for result in results for run in result.records for each in run.curve)
    y_axis = "accuracy" if classifies else "loss"
    chart = learning_chart(lines, title=CHART, y_axis=y_axis, goal=_goal(results[0].cell.goal))
    caption = "On the whole test split, a line for each seed; seconds of training, without evaluation."
    return Picture(title=CHART, chart=chart, caption=caption)


def _curves(result: Result) -> Iterator[Line]:
    for run in result.records:
        points = tuple(Point(x=each.train_s, value=_score(each)) for each in run.curve)
        if points:
            yield Line(framework=result.cell.framework, points=points)


def _score(evaluation: Evaluation) -> float:
    """The accuracy, or the loss where nothing is classified."""
    return evaluation.loss if evaluation.accuracy is None else evaluation.accuracy


def _goal(words: str) -> float | None:
    """The accuracy of a goal such as 'accuracy=0.985 within epochs=20'."""
    name, _, rest = words.partition("=")
    try:
        return float(rest.split()[0]) if name == "accuracy" else None
    except (ValueError, IndexError):
        return None


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
