"""Trainings made up for the tests of the report: a record for each seed with its error at the end."""

from collections.abc import Sequence
from typing import Any

from tests.results.samples import make_cell, make_training

from netdyno.results.figure import Figure
from netdyno.results.record import Evaluation, Record


def trained(
    network: str, errors: Sequence[float], *, flops: float = 0.0, seconds: float = 2.0, **cell: Any
) -> list[Record]:
    """So many seeds of one cell; the cost of a step is that of a batch."""
    fields = {"workload": "learn", "goal": "steps=8", "source": "mnist", "data": "packed", "framework": "alpha"}
    made = make_cell(**{**fields, "network": network, **cell})
    cost = {"step_flops": flops * made.batch, "batch": made.batch} if flops else {}
    return [_record(made, number, error, seconds, cost) for number, error in enumerate(errors, 1)]


def _record(cell: Any, number: int, error: float, seconds: float, cost: dict[str, float]) -> Record:
    figures = [
        Figure("accuracy", "", "more", 1 - error),
        Figure("train_time", "s", "less", seconds),
    ]
    curve = (Evaluation(step=8, train_s=seconds, wall_s=seconds, accuracy=1 - error, loss=0.1),)
    return make_training(
        number, cell=cell, curve=curve, figures={each.name: each for each in figures}, headline="accuracy",
        id=f"{cell.key()} {number}", cost=cost,
    )  # fmt: skip
