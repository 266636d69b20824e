"""What the page shows of courses: how accurate a network became in each framework, and after how long."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from netdyno.report.charts import Line, Point, learning_chart
from netdyno.report.page_sections import Picture
from netdyno.report.palette import look
from netdyno.report.tables import how
from netdyno.results.record import MEASURED
from netdyno.results.result import Result
from netdyno.results.words import number

MOST_CHARTS = 8
Key = tuple[str, str, int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseLine:
    """What a framework's courses with one goal came to, in words."""

    name: str
    css: str
    how: str
    accuracy: str
    seconds: str
    energy: str
    seeds: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One network, its data and a goal: the chart of all who learned it, and their figures."""

    title: str
    goal: str
    picture: Picture | None
    lines: tuple[CourseLine, ...]


def lessons(results: Iterable[Result]) -> list[Lesson]:
    """Results of trainings, grouped by what was to be learned."""
    groups: dict[Key, list[Result]] = {}
    for result in results:
        cell = result.cell
        groups.setdefault((cell.network, cell.dataset, cell.batch, cell.source, cell.goal), []).append(result)
    return [_lesson(key, found, place < MOST_CHARTS) for place, (key, found) in enumerate(sorted(groups.items()))]


def _lesson(key: Key, results: Sequence[Result], is_drawn: bool) -> Lesson:
    network, dataset, batch, source, goal = key
    return Lesson(
        title=f"{network}/{dataset}, batch {batch}, on {source}",
        goal=goal,
        picture=_picture(results) if is_drawn else None,
        lines=tuple(_line(result) for result in results),
    )


def _picture(results: Sequence[Result]) -> Picture | None:
    lines = [line for result in results for line in _curves(result)]
    if not lines:
        return None
    chart = learning_chart(lines, title="Accuracy while training", goal=_goal(results[0].cell.goal))
    caption = "On the whole test split, a line for each seed; the seconds are those of training alone."
    return Picture(title="Accuracy while training", chart=chart, caption=caption)


def _curves(result: Result) -> Iterator[Line]:
    for run in result.records:
        points = tuple(Point(x=each.train_s, value=each.accuracy) for each in run.curve)
        if points:
            yield Line(framework=result.cell.framework, points=points)


def _goal(words: str) -> float | None:
    """The accuracy to be reached, of a goal such as 'accuracy=0.985 within epochs=20'."""
    name, _, rest = words.partition("=")
    try:
        return float(rest.split()[0]) if name == "accuracy" else None
    except (ValueError, IndexError):
        return None


def _line(result: Result) -> CourseLine:
    framework = look(result.cell.framework)
    wrong = [run for run in result.records if run.outcome != MEASURED]
    accuracy, seconds, joules = (result.figures.get(name) for name in ("accuracy", "train_time", "energy"))
    return CourseLine(
        name=framework.name,
        css=framework.css,
        how=how(result.cell),
        accuracy="–" if accuracy is None else f"{accuracy.value:.4f}",
        seconds="–" if seconds is None else f"{number(seconds.value)} s",
        energy="–" if joules is None else f"{number(joules.value / 1e3)} kJ",
        seeds=f"{result.reached} of {len(result.records)}",
        outcome=": ".join(filter(None, (wrong[0].outcome, wrong[0].reason))) if wrong else "trained",
    )
