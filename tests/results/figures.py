"""Figures of records made up for tests, as the workloads train and learn give them."""

from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import median

from netdyno.results.cell import Cell
from netdyno.results.figure import Figure
from netdyno.results.record import Evaluation, Sample
from netdyno.results.statistics import rate

Figures = dict[str, Figure]


def item_of(dataset: str) -> str:
    """What one row of a batch is."""
    return "sample" if dataset == "none" or dataset.startswith("vectors") else "image"


def train_figures(cell: Cell, samples: Sequence[Sample], fields: Mapping[str, float | None]) -> Figures:
    """Of timed steps; `fields` are readings and the peaks of memory by name."""
    item, per_step = item_of(cell.dataset), float(cell.batch)
    memory = "host_peak_bytes" if cell.device == "cpu" else "device_peak_bytes"
    energy = energy_reading(cell)
    figures = [
        Figure("throughput", f"{item}s/s", "more", rate(samples, per_step), per_step),
        Figure("step", "s", "less", median(sample.seconds_per_step for sample in samples)),
        *_found("first_step", "s", fields.get("first_step_s")),
        *_found("memory", "bytes", fields.get(memory), memory),
        *_found("power", "W", fields.get("mean_w"), "mean_w"),
        *_found("energy", f"J/{item}", fields.get(energy), energy),
    ]
    return {figure.name: figure for figure in figures}


def train_absent(cell: Cell, absent: Mapping[str, str]) -> dict[str, str]:
    """Why figures are absent, by their names too."""
    sources = {"power": "mean_w", "energy": energy_reading(cell)}
    return {**absent, **{name: absent[source] for name, source in sources.items() if source in absent}}


def learn_figures(curve: Sequence[Evaluation], fields: Mapping[str, float | None]) -> Figures:
    """Of a training that was finished."""
    figures = [
        *(Figure("accuracy", "", "more", point.accuracy) for point in curve[-1:]),
        *_found("train_time", "s", fields.get("train_s")),
        *_found("wall_time", "s", fields.get("wall_s")),
        *_found("steps", "steps", fields.get("steps")),
        *_found("energy", "J", fields.get("energy_j")),
    ]
    return {figure.name: figure for figure in figures}


def learn_headline(goal: str) -> str:
    """How long it took where an accuracy was the goal, else how accurate it became."""
    return "train_time" if goal.startswith("accuracy") else "accuracy"


def energy_reading(cell: Cell) -> str:
    return "package_j_per_item" if cell.device == "cpu" else "j_per_item"


def _found(name: str, unit: str, value: float | None, source: str = "") -> list[Figure]:
    """A figure of which less is better, where it was read."""
    if not isinstance(value, int | float) or not isfinite(value):
        return []
    return [Figure(name, unit, "less", float(value), None, source)]
