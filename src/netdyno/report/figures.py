"""The figures of a result, whatever its workload: name → value, interval, unit, and whether more or less is better.

The report reads results through this module only. It maps what results hold now: a speed, readings by name, and
trainings to a goal as a kind of their own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from netdyno.results.compare import Question
from netdyno.results.compare_metrics import METRICS, SPEED, Metric
from netdyno.results.course import Course, CourseResult
from netdyno.results.record import Record
from netdyno.results.result import Result

MORE, LESS = "more", "less"
TRAIN, LEARN = "train", "learn"
THROUGHPUT = "throughput"
ORDER = (THROUGHPUT, "step", "first_step", "memory", "power", "energy")  # unknown figures follow
LEARNED = {  # name → attribute or reading, unit, better
    "accuracy": ("accuracy", "", MORE),
    "train_time": ("train_s", "s", LESS),
    "wall_time": ("wall_s", "s", LESS),
    "steps": ("steps", "steps", LESS),
    "energy": ("energy_j", "J", LESS),
}
UNSAID = {  # reasons for figures whose record gives none, by figure and device
    ("memory", "cpu"): "the worker did not say",
    ("memory", "cuda"): "the framework does not count it",
    ("power", "cpu"): "power is read on GPUs only",
    ("energy", "cpu"): "the processor's counters were not read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure over a result's runs; `low` and `high` are None where one run has no interval."""

    value: float
    low: float | None = None
    high: float | None = None
    unit: str
    better: str  # more, less or none


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A figure that a measured result lacks, and why."""

    unit: str
    reason: str


def figures_of(result: Result | CourseResult) -> dict[str, Estimate]:
    """Every figure of the result in display order; empty where nothing was measured."""
    if isinstance(result, CourseResult):
        return _learned(result)
    runs, units = [run_figures(record) for record in result.measured], _units()
    names = _ordered({name for run in runs for name in run})
    figures = {name: _over_runs([run[name] for run in runs if name in run], *units[name]) for name in names}
    if result.images_per_s is not None:
        unit, better = units[THROUGHPUT]
        figures[THROUGHPUT] = Estimate(
            value=result.images_per_s, low=result.low, high=result.high, unit=unit, better=better
        )
    return figures


def headline_of(result: Result | CourseResult) -> str:
    """The name of the main figure."""
    if isinstance(result, Result):
        return THROUGHPUT
    return "train_time" if result.courses[0].goal.startswith("accuracy") else "accuracy"


def head_of(result: Result | CourseResult) -> Estimate | None:
    """The main figure; None where nothing was measured."""
    return figures_of(result).get(headline_of(result))


def workload_of(result: Result | CourseResult) -> str:
    return LEARN if isinstance(result, CourseResult) else TRAIN


def per_step_of(result: Result) -> float:
    """Items per step, whose quotient with a block's seconds per step is the block's own main figure."""
    return float(result.cell.batch)


def missing_of(result: Result) -> dict[str, Missing]:
    """Figures that other results of the workload may have and this one, though measured, has not."""
    if not result.measured:
        return {}
    last, present = result.measured[-1], figures_of(result)
    return {
        name: Missing(unit=metric.unit, reason=_reason(name, metric, last))
        for name, metric in _metrics().items()
        if name not in present
    }


def run_values(result: Result, name: str) -> list[float]:
    """The figure of every measured run that has it."""
    metric = _metrics().get(name)
    if metric is None:
        return [found[name] for record in result.measured if name in (found := run_figures(record))]
    return [value for record in result.measured if (value := metric.read(record)[1]) is not None]


def run_figures(record: Record) -> dict[str, float]:
    """The figures of a single measured run, in display order."""
    if not record.samples:
        return {}
    values: dict[str, float | None] = {name: metric.read(record)[1] for name, metric in _metrics().items()}
    values |= {"step": median(sample.seconds_per_step for sample in record.samples)}
    values |= {"first_step": record.first_step_s}
    return {name: value for name in _ordered(values) if (value := values[name]) is not None}


def run_head(record: Record) -> tuple[float, str] | None:
    """The main figure of a single run with its unit."""
    value = run_figures(record).get(THROUGHPUT)
    return None if value is None else (value, SPEED.unit)


def course_figures(course: Course) -> dict[str, float]:
    """The figures of one training to a goal."""
    found = {name: _learned_value(course, where) for name, (where, _, _) in LEARNED.items()}
    return {name: value for name, value in found.items() if value is not None}


def question_about(name: str) -> Question:
    """What `compare` is asked to judge two results by this figure."""
    return Question(metric=_metrics()[name])


def _metrics() -> dict[str, Metric]:
    return {THROUGHPUT if metric is SPEED else name: metric for name, metric in METRICS.items()}


def _units() -> dict[str, tuple[str, str]]:
    """Unit and direction of every figure of a training run."""
    known = {
        name: (metric.unit, LESS if metric.worse == metric.larger else MORE) for name, metric in _metrics().items()
    }
    return known | {"step": ("s", LESS), "first_step": ("s", LESS)}


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def _reason(name: str, metric: Metric, record: Record) -> str:
    reading, _ = metric.read(record)
    return record.absent.get(reading, "") or UNSAID.get((name, record.cell.device), "not read")


def _over_runs(values: Sequence[float], unit: str, better: str) -> Estimate:
    several = len(values) > 1
    low, high = (min(values), max(values)) if several else (None, None)
    return Estimate(value=fmean(values), low=low, high=high, unit=unit, better=better)


def _learned(result: CourseResult) -> dict[str, Estimate]:
    found: Mapping[str, list[float]] = {
        name: [value for course in result.over if (value := _learned_value(course, where)) is not None]
        for name, (where, _, _) in LEARNED.items()
    }
    return {name: _over_runs(values, *LEARNED[name][1:]) for name, values in found.items() if values}


def _learned_value(course: Course, where: str) -> float | None:
    value = course.readings.get(where) if where == "energy_j" else getattr(course, where)
    return None if value is None else float(value)
