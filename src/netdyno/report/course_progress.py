"""How courses are followed: which one, and about how long it will take."""

import time

from rich.console import Console
from rich.status import Status

from netdyno.report.progress import duration
from netdyno.report.tables import how
from netdyno.results.course import Course
from netdyno.runtime.observer import Step
from netdyno.workloads.workload import AnyRecord

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

    def started(self, step: Step) -> None:
        self._left = step.left
        self._started_at = time.monotonic()
        cell = step.cell
        self._line = f"{cell.network}/{cell.dataset} {cell.framework} {how(cell)} b{cell.batch}, seed {step.number}"
        self._draw()

    def polled(self) -> None:
        if time.monotonic() - self._drawn_at >= DRAW_EVERY_S:
            self._draw()

    def ended(self, course: AnyRecord) -> None:
        assert isinstance(course, Course)
        self._done += 1
        took = duration(time.monotonic() - self._started_at)
        place = f"[{self._done}/{self._done + self._left - 1}]"
        self._console.print(f"{place} {self._line}: {_told(course)} ({took})", markup=False)

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


def _told(course: Course) -> str:
    if course.accuracy is None or not course.is_over:
        return f"{course.outcome}: {course.reason}"
    return f"{course.outcome}, accuracy {course.accuracy:.4f} after {course.train_s or 0:.1f} s of training"
