"""What the report reads of a result beside its figures: the values of single runs, and why a figure is missing."""

from collections.abc import Iterable
from dataclasses import dataclass

from netdyno.results.result import Result
from netdyno.results.statistics import value_of

TRAIN, LEARN = "train", "learn"
SIMPLE = "simple "  # before the name of such a score in what runs of a series share
MORE, LESS = "more", "less"
# Figures of timed steps that a reader expects, with their unit, and reasons where a record gives none.
EXPECTED = {"memory": "bytes", "power": "W", "energy": "J/{item}"}
REASONS = {
    ("memory", "cpu"): "the worker did not say",
    ("memory", "cuda"): "the framework does not count it",
    ("power", "cpu"): "power is read on GPUs only",
    ("energy", "cpu"): "the processor's counters were not read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A figure that a measured result lacks, and why."""

    unit: str
    reason: str


def missing_of(result: Result) -> dict[str, Missing]:
    """Figures that other results of timed steps have and this one, though measured, has not."""
    if result.head is None or not per_step_of(result):
        return {}
    item = result.head.unit.removesuffix("/s").removesuffix("s")
    return {
        name: Missing(unit=unit.format(item=item), reason=_reason(name, result))
        for name, unit in EXPECTED.items()
        if name not in result.figures
    }


def per_step_of(result: Result) -> float:
    """Items per step; over a block's seconds per step they give its own main figure. 0 where it has none."""
    found = [run.main for run in result.measured]
    return (found[-1].per_step or 0.0) if found and found[-1] else 0.0


def run_values(result: Result, name: str) -> list[float]:
    """The figure of every measured run that has it."""
    return [value_of(run.figures[name], run) for run in result.measured if name in run.figures]


def simple_scores(results: Iterable[Result]) -> dict[str, float]:
    """What is reached on the data of trainings without a network, by how: the score of a bigram, for example."""
    return {
        name.removeprefix(SIMPLE): float(value)
        for result in results
        for run in result.records
        for name, value in run.basis.items()
        if name.startswith(SIMPLE) and not isinstance(value, str)
    }


def _reason(name: str, result: Result) -> str:
    absent = result.measured[-1].absent
    return absent.get(name, "") or REASONS.get((name, result.cell.device), "not read")
