"""Who follows a sequence of tasks: a progress line, a test, or nobody."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from netdyno.results.cell import Cell

Result = TypeVar("Result", contravariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One task of several: run `number` of a cell, with so many `left`, itself included."""

    cell: Cell
    number: int
    left: int
    folder: Path | None = None  # of the run, where it has one


class Observer(Protocol[Result]):
    """Called when a task starts, now and then while it runs, and with its result."""

    def started(self, step: Step) -> None: ...

    def polled(self) -> None: ...

    def ended(self, result: Result) -> None: ...
