"""How a measurement is followed: cell, run and time left, drawn seldom so that watching costs nothing."""

import time
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.status import Status

from netdyno.harness.plan import Plan, PlannedRun
from netdyno.report.tables import how
from netdyno.results.record import Record
from netdyno.results.statistics import value_of
from netdyno.results.words import number

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

    def started(self, run: PlannedRun, folder: Path) -> None:
        self._started_at = time.monotonic()
        self._line = f"{run.cell.network}/{run.cell.dataset} {run.cell.framework} {how(run.cell)} b{run.cell.batch}"
        self._draw()

    def polled(self) -> None:
        if self._status and time.monotonic() - self._drawn_at >= DRAW_EVERY_S:
            self._draw()

    def ended(self, record: Record) -> None:
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

    def __enter__(self) -> "Compiling":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def compiled(self, done: int, of: int) -> None:
        took_s = time.monotonic() - self._started_at
        left = f" · about {duration(took_s * (of - done) / done)} left" if done else ""
        self._status.update(f"compiling ahead: {done} of {of} cells{left}")
        if done == of:
            self._console.print(f"Compiled {of} cells ahead ({duration(took_s)}).")


def duration(seconds: float) -> str:
    """Such as `45 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _outcome(record: Record) -> str:
    main = record.main
    if main is None:
        return f"{record.outcome}: {record.reason}"
    return f"{number(value_of(main, record))} {main.unit}" + (f" ({', '.join(record.flags)})" if record.flags else "")
