"""How courses are followed: which one, and about how long it will take."""

import time

from rich.console import Console
from rich.status import Status

from netdyno.report.progress import duration
from netdyno.report.tables import how
from netdyno.results.cell import Cell
from netdyno.results.record import MEASURED, Record

DRAW_EVERY_S = 1.0


class CourseProgress:
    """A line that moves on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = Status("", console=console, refresh_per_second=1)
        self._line = ""
        self._left = self._done = 0
        self._began = self._started_at = self._drawn_at = time.monotonic()

    def __enter__(self) -> "CourseProgress":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def started(self, cell: Cell, seed: int, left: int) -> None:
        self._left = left
        self._started_at = time.monotonic()
        self._line = f"{cell.network}/{cell.dataset} {cell.framework} {how(cell)} b{cell.batch}, seed {seed}"
        self._draw()

    def polled(self) -> None:
        if time.monotonic() - self._drawn_at >= DRAW_EVERY_S:
            self._draw()

    def ended(self, run: Record) -> None:
        self._done += 1
        took = duration(time.monotonic() - self._started_at)
        place = f"[{self._done}/{self._done + self._left - 1}]"
        self._console.print(f"{place} {self._line}: {_told(run)} ({took})", markup=False)

    def _draw(self) -> None:
        self._drawn_at = time.monotonic()
        spent = time.monotonic() - self._began
        left = f" · about {duration(spent / self._done * self._left)} left" if self._done else ""
        self._status.update(f"{self._line} · {self._left} to go{left}")


class Packing:
    """How a dataset gets into the format that is wanted; told only where there is something to write."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = Status("packing", console=console, refresh_per_second=2)
        self._started_at = 0.0

    def __enter__(self) -> "Packing":
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def packed(self, split: str, done: int, of: int) -> None:
        if not self._started_at:
            self._started_at = time.monotonic()
            if self._console.is_terminal:
                self._status.start()
        self._status.update(f"writing {done:,} of {of:,} images to {split} with")
        if done == of:
            self._console.print(f"Wrote {of:,} images to {split} with.")


def _told(run: Record) -> str:
    if not run.is_measured or "accuracy" not in run.figures:
        return f"{run.outcome}: {run.reason}"
    seconds = run.figures["train_time"].value if "train_time" in run.figures else 0.0
    outcome = "trained" if run.outcome == MEASURED else run.outcome
    return f"{outcome}, accuracy {run.figures['accuracy'].value:.4f} after {seconds:.1f} s of training"
