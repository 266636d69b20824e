"""Learning curves: a line of means for each framework, with a band from the lowest to the highest seed."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from msgspec import structs

from netdyno.report.charts import Level, Line, Point, learning_chart
from netdyno.report.charts.palette import look
from netdyno.report.figures import simple_scores
from netdyno.report.names import unusual
from netdyno.report.networks import usual_options
from netdyno.report.page.growth import MOST_LINES
from netdyno.report.page.sections import Picture
from netdyno.results.cell import Cell
from netdyno.results.record import Evaluation, Record
from netdyno.results.result import Result

SECONDS = "seconds of training, without evaluation"


def curves_picture(results: Sequence[Result], title: str) -> Picture | None:
    """The learning curves of one network, its data and a goal; None where nothing was evaluated."""
    found = [(result, lines) for result in results if (lines := list(_lines(result, _name(result, results))))]
    if not found:
        return None
    shown = _best(found, MOST_LINES)
    classifies = any(each.accuracy is not None for result in results for run in result.records for each in run.curve)
    chart = learning_chart(
        [line for _, lines in shown for line in lines],
        title=title,
        y_axis="accuracy" if classifies else "loss",
        goal=_goal(results[0].cell.goal),
        levels=[
            Level(name=name, value=value)
            for name, value in simple_scores(results).items()
            if value <= 1 or not classifies
        ],
    )
    return Picture(title=title, chart=chart, caption=_caption(shown, len(found)))


def _best(found: Sequence[tuple[Result, list[Line]]], most: int) -> Sequence[tuple[Result, list[Line]]]:
    """In their order, those that end best."""
    if len(found) <= most:
        return found
    classifies = found[0][0].headline != "loss"
    ends = {id(lines): fmean(line.points[-1].value for line in lines) for _, lines in found}
    kept = sorted(ends, key=lambda place: ends[place], reverse=classifies)[:most]
    return [each for each in found if id(each[1]) in kept]


def _caption(shown: Sequence[tuple[Result, list[Line]]], of: int) -> str:
    banded = [len(result.records) for result, lines in shown if lines[0].points[0].low is not None]
    single = sum(lines[0].points[0].low is None for _, lines in shown)
    parts = []
    if banded:
        parts.append("the mean of the seeds, and a band from the lowest to the highest")
    if single:
        parts.append(
            "a line for each seed" if not banded else "a line for each seed where there is one or they differ"
        )
    more = f" The best {len(shown)} of {of}; the table has the others too." if of > len(shown) else ""
    return f"On the whole test split: {'; '.join(parts)}; {SECONDS}.{more}"


def _lines(result: Result, name: str) -> Iterator[Line]:
    runs = [run for run in result.records if run.curve]
    framework = result.cell.framework
    if len(runs) > 1 and len({_steps(run) for run in runs}) == 1:
        yield Line(framework=framework, name=name, points=tuple(map(_over_seeds, zip(*_curves(runs), strict=True))))
        return
    for run in runs:
        points = tuple(Point(x=each.train_s, value=score(each)) for each in run.curve)
        yield Line(framework=framework, name=name, points=points)


def _curves(runs: Sequence[Record]) -> list[tuple[Evaluation, ...]]:
    return [run.curve for run in runs]


def _steps(run: Record) -> tuple[int, ...]:
    return tuple(each.step for each in run.curve)


def _over_seeds(evaluations: Sequence[Evaluation]) -> Point:
    values = [score(each) for each in evaluations]
    seconds = fmean(each.train_s for each in evaluations)
    return Point(x=seconds, value=fmean(values), low=min(values), high=max(values))


def score(evaluation: Evaluation) -> float:
    """The accuracy, or the loss where nothing is classified."""
    return evaluation.loss if evaluation.accuracy is None else evaluation.accuracy


def _name(result: Result, results: Sequence[Result]) -> str:
    """The framework's, with what tells the result from others of the same framework; options alone where there is
    only one framework."""
    same = [_words(other.cell, results) for other in results if other.cell.framework == result.cell.framework]
    own = [word for word in _words(result.cell, results) if not all(word in words for words in same)]
    framework = [look(result.cell.framework).name] if len(same) < len(results) or not own else []
    return ", ".join([*framework, *own]) or look(result.cell.framework).name


def _words(cell: Cell, results: Sequence[Result]) -> tuple[str, ...]:
    """What may differ; of the options that some result names, the usual values too."""
    named = {name for result in results for name, _ in result.cell.options}
    usual = {name: value for name, value in usual_options(cell).items() if name in named}
    shown = structs.replace(cell, options=tuple({**usual, **dict(cell.options)}.items()))
    return cell.execution, cell.precision, f"{cell.device} {cell.threads}", *unusual(shown)


def _goal(words: str) -> float | None:
    """The accuracy of a goal such as 'accuracy=0.985 within epochs=20'."""
    name, _, rest = words.partition("=")
    try:
        return float(rest.split()[0]) if name == "accuracy" else None
    except (ValueError, IndexError):
        return None
