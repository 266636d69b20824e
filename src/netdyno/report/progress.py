"""How a measurement is followed: cell, run and time left, drawn seldom so that watching costs nothing."""

import time
from collections.abc import Mapping

from rich.console import Console
from rich.status import Status

from netdyno.bench.plan import Plan, PlannedRun
from netdyno.report.tables import how
from netdyno.results.course import Course
from netdyno.results.statistics import images_per_s
from netdyno.results.words import number
from netdyno.runtime.observer import Step
from netdyno.workloads.probe import Choice
from netdyno.workloads.workload import AnyRecord

DRAW_EVERY_S = 1.0


class Progress:
    """A line that moves on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console, plan: Plan, expected_s: Mapping[PlannedRun, float]) -> None:
        self._console = console
        self._plan = plan
        self._expected_s = dict(expected_s)
        self._done = 0
        self._started_at = time.monotonic()
        self._drawn_at = 0.0
        self._status: Status | None = None
        self._line = ""

    def __enter__(self) -> "Progress":
        if self._console.is_terminal:
            self._status = Status("", console=self._console, refresh_per_second=1)
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def started(self, step: Step) -> None:
        self._started_at = time.monotonic()
        cell = step.cell
        self._line = f"{cell.network}/{cell.dataset} {cell.framework} {how(cell)} b{cell.batch}"
        self._draw()

    def polled(self) -> None:
        if self._status and time.monotonic() - self._drawn_at >= DRAW_EVERY_S:
            self._draw()

    def ended(self, record: AnyRecord) -> None:
        took_s = time.monotonic() - self._started_at
        run = self._plan.runs[self._done]
        for later in self._plan.runs[self._done + 1 :]:
            if later.cell == run.cell:
                self._expected_s[later] = took_s
        self._done += 1
        self._console.print(f"{self._count()} {self._line}: {_outcome(record)} ({took_s:.0f} s)", markup=False)

    def _draw(self) -> None:
        self._drawn_at = time.monotonic()
        if self._status:
            self._status.update(f"run {self._done + 1} of {len(self._plan.runs)}: {self._line} · {self._left()} left")

    def _left(self) -> str:
        waiting = sum(self._expected_s[run] for run in self._plan.runs[self._done :])
        return duration(max(0.0, waiting - (time.monotonic() - self._started_at)))

    def _count(self) -> str:
        return f"[{self._done}/{len(self._plan.runs)}]"


class Compiling:
    """How compiling ahead goes: a line that moves on a terminal, one when it is over."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = Status("compiling ahead", console=console, refresh_per_second=1)
        self._started_at = time.monotonic()
        self._done = self._all = 0

    def __enter__(self) -> "Compiling":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def started(self, step: Step) -> None:
        self._all += 1

    def polled(self) -> None:
        took_s = time.monotonic() - self._started_at
        waiting = self._all - self._done
        left = f" · about {duration(took_s * waiting / self._done)} left" if self._done else ""
        self._status.update(f"compiling ahead: {self._done} of {self._all} cells{left}")

    def ended(self, choice: Choice | None) -> None:
        self._done += 1
        if self._done == self._all:
            took_s = time.monotonic() - self._started_at
            self._console.print(f"Compiled {self._all} cells ahead ({duration(took_s)}).")


def duration(seconds: float) -> str:
    """Such as `45 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _outcome(record: AnyRecord) -> str:
    if isinstance(record, Course):
        return f"{record.outcome}, accuracy {record.accuracy or 0:.4f}"
    if record.outcome != "measured":
        return f"{record.outcome}: {record.reason}"
    speed = number(images_per_s(record.samples, record.cell.batch))
    return f"{speed} images/s" + (f" ({', '.join(record.flags)})" if record.flags else "")
