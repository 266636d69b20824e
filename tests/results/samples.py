"""Cells, records and results made up for tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from tests.results.figures import learn_figures, train_absent, train_figures

from netdyno.results.cell import Cell
from netdyno.results.record import Evaluation, Record, Sample
from netdyno.results.result import Result, results_of


def make_cell(**changes: Any) -> Cell:
    fields: dict[str, Any] = {
        "network": "lenet",
        "dataset": "mnist",
        "framework": "alpha-1.0",
        "device": "cpu",
        "batch": 32,
        "precision": "float32",
        "execution": "eager",
        "data": "synthetic",
        "threads": 2,
    }
    return Cell(**(fields | changes))


def make_samples(seconds: Sequence[float], steps: int = 1) -> tuple[Sample, ...]:
    return tuple(Sample(steps=steps, seconds=float(value)) for value in seconds)


def make_record(cell: Cell | None = None, **changes: Any) -> Record:
    """A measured run; its id follows from machine, series and number unless given."""
    fields: dict[str, Any] = {
        "cell": cell or make_cell(),
        "machine": "here",
        "graph_identity": "graph",
        "series": 1,
        "number": 1,
        "outcome": "measured",
        "started_at": "2026-11-15T10:00:00+00:00",
        "ended_at": "2026-11-15T10:01:00+00:00",
        "samples": make_samples([0.1, 0.11, 0.09, 0.1, 0.105, 0.1, 0.102]),
    }
    fields |= changes
    fields.setdefault("id", "-".join(str(fields[name]) for name in ("machine", "series", "number")))
    fields.setdefault("headline", "throughput")
    if fields["outcome"] == "measured" and fields["samples"]:
        read = {**fields.get("readings", {}), **fields}
        fields.setdefault("figures", train_figures(fields["cell"], fields["samples"], read))
        fields["absent"] = train_absent(fields["cell"], fields.get("absent", {}))
    return Record(**fields)


def with_samples(record: Record, samples: tuple[Sample, ...]) -> Record:
    """The record with other samples, and the figures that follow."""
    return replace(record, samples=samples, figures=train_figures(record.cell, samples, dict(record.readings)))


def make_training(seed: int = 1, accuracy: float = 0.98, **changes: Any) -> Record:
    """A training to a goal with its learning curve."""
    curve = tuple(
        Evaluation(step=step, train_s=step / 100, wall_s=step / 50, accuracy=reached, loss=1 - reached)
        for step, reached in ((100, accuracy / 2), (200, accuracy))
    )
    totals = {"train_s": 2.0 * seed, "wall_s": 4.0 * seed, "steps": 200.0, "energy_j": 10.0 * seed}
    cell = make_cell(workload="learn", goal="epochs=1", source="mnist", data="packed")
    fields: dict[str, Any] = {
        "id": f"training-{seed}",
        "cell": cell,
        "number": seed,
        "started_at": f"2026-01-01T00:00:0{seed}.000+00:00",
        "ended_at": f"2026-01-01T00:01:0{seed}.000+00:00",
        "samples": (),
        "curve": curve,
        "figures": learn_figures(curve, totals),
        "headline": "accuracy",
        "readings": {"energy_j": 10.0 * seed},
    }
    return make_record(**(fields | changes))


def make_result(runs: Sequence[Sequence[float]], **changes: Any) -> Result:
    """The result of runs given as seconds per step of their blocks."""
    records = [make_record(number=n, samples=make_samples(run), **changes) for n, run in enumerate(runs, 1)]
    return results_of(records)[0]


def draw_runs(
    random: np.random.Generator, runs: int, *, step_s: float = 0.01, run_noise: float, block_noise: float
) -> list[list[float]]:
    """Blocks of runs whose speeds differ by `run_noise` and whose blocks by `block_noise`, relatively."""
    levels = step_s * np.exp(run_noise * random.standard_normal(runs))
    return [(level * np.exp(block_noise * random.standard_normal(30))).tolist() for level in levels]
