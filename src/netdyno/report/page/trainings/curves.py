"""Learning curves: a line of means for each framework, with a band from the lowest to the highest seed."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
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

MOST_SCORES = 3  # beside the loss that each have a chart
Read = Callable[[Evaluation], float]
SECONDS = "seconds of training, without evaluation"


def curves_pictures(results: Sequence[Result], title: str) -> list[Picture]:
    """The learning curves of one network, its data and a goal; none where nothing was evaluated. A network that
    classifies nothing has a chart for each of its scores beside that of the loss."""
    main = _picture(results, title, score, classifies=_classifies(results))
    names = _shared_scores(results)[:MOST_SCORES]
    others = [
        _picture(results, f"{_spoken(name).capitalize()} while training", partial(_other, name), y_axis=_spoken(name))
        for name in names
    ]
    return [picture for picture in (main, *others) if picture]


def _picture(
    results: Sequence[Result], title: str, read: Read, *, classifies: bool = False, y_axis: str = ""
) -> Picture | None:
    named = [(result, list(_lines(result, _name(result, results), read))) for result in results]
    found = [(result, lines) for result, lines in named if lines]
    if not found:
        return None
    shown = _best(found, MOST_LINES)
    chart = learning_chart(
        [line for _, lines in shown for line in lines],
        title=title,
        y_axis=y_axis or ("accuracy" if classifies else "loss"),
        goal=_goal(results[0].cell.goal) if classifies else None,
        levels=[] if y_axis else _levels(results, classifies),
    )
    return Picture(title=title, chart=chart, caption=_caption(shown, len(found)))


def _levels(results: Sequence[Result], classifies: bool) -> list[Level]:
    """What is reached without a network, in the score that is drawn."""
    simple = simple_scores(results).items()
    return [Level(name=name, value=value) for name, value in simple if value <= 1 or not classifies]


def _classifies(results: Sequence[Result]) -> bool:
    return any(each.accuracy is not None for result in results for run in result.records for each in run.curve)


def _shared_scores(results: Sequence[Result]) -> list[str]:
    """The scores that every evaluation has, in the order of the first."""
    every = [each.scores for result in results for run in result.records for each in run.curve]
    return [name for name in every[0] if all(name in scores for scores in every)] if every else []


def _spoken(name: str) -> str:
    return name.replace("_", " ")


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


def _lines(result: Result, name: str, read: Read) -> Iterator[Line]:
    runs = [run for run in result.records if run.curve]
    framework = result.cell.framework
    if len(runs) > 1 and len({_steps(run) for run in runs}) == 1:
        places = zip(*_curves(runs), strict=True)
        yield Line(framework=framework, name=name, points=tuple(_over_seeds(place, read) for place in places))
        return
    for run in runs:
        points = tuple(Point(x=each.train_s, value=read(each)) for each in run.curve)
        yield Line(framework=framework, name=name, points=points)


def _curves(runs: Sequence[Record]) -> list[tuple[Evaluation, ...]]:
    return [run.curve for run in runs]


def _steps(run: Record) -> tuple[int, ...]:
    return tuple(each.step for each in run.curve)


def _over_seeds(evaluations: Sequence[Evaluation], read: Read) -> Point:
    values = [read(each) for each in evaluations]
    seconds = fmean(each.train_s for each in evaluations)
    return Point(x=seconds, value=fmean(values), low=min(values), high=max(values))


def score(evaluation: Evaluation) -> float:
    """The accuracy, or the loss where nothing is classified."""
    return evaluation.loss if evaluation.accuracy is None else evaluation.accuracy


def _other(name: str, evaluation: Evaluation) -> float:
    return evaluation.scores[name]


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
