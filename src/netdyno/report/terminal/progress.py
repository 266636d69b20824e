"""Progress lines of measurements: cell, run and time left, drawn once a second so that they cost nothing."""

import time
from collections.abc import Callable, Mapping

from rich.console import Console

from netdyno.bench.plan import Plan, PlannedRun
from netdyno.protocol.event_log import EVENTS, read_events
from netdyno.protocol.events import Evaluation
from netdyno.report.names import short_name, short_reason
from netdyno.report.terminal.console import PlainStatus as Status
from netdyno.report.terminal.tables import how
from netdyno.report.vocabulary import Wording, wording
from netdyno.results.cell import Cell
from netdyno.results.record import Record
from netdyno.results.statistics import value_of
from netdyno.runtime.group import rank_folder
from netdyno.runtime.observer import Step
from netdyno.workloads.fit import Fit
from netdyno.workloads.goal import goal_of
from netdyno.workloads.probe import Choice

DRAW_EVERY_S = 1.0
PLAIN_EVERY_S = 15.0  # where a line cannot be redrawn


class Progress:
    """A live line on a terminal, plain lines elsewhere."""

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
        self._line = _cell_line(step.cell)
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
    """Progress of compiling ahead: a live line on a terminal, and one line at the end."""

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
        took_s, waiting = time.monotonic() - self._started_at, self._all - self._done
        left = f" · about {duration(took_s * waiting / self._done)} left" if self._done else ""
        self._status.update(f"compiling ahead: {self._done} of {self._all} cells{left}")

    def ended(self, choice: Choice | None) -> None:
        self._done += 1
        if self._done == self._all:
            took_s = time.monotonic() - self._started_at
            self._console.print(f"Compiled {self._all} cells ahead ({duration(took_s)}).")


class TrainingProgress:
    """Trainings to a goal: steps, the last accuracy and the time left, as far as evaluations have shown them."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._status = Status("", console=console, refresh_per_second=1)
        self._step: Step | None = None
        self._line = self._said = ""
        self._done = 0
        self._began = self._started_at = self._drawn_at = self._printed_at = clock()

    def __enter__(self) -> "TrainingProgress":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def started(self, step: Step) -> None:
        self._step, self._started_at = step, self._clock()
        self._line = f"{_cell_line(step.cell)}, seed {step.number}"
        self._draw()

    def polled(self) -> None:
        if self._clock() - self._drawn_at >= DRAW_EVERY_S:
            self._draw()

    def ended(self, record: Record) -> None:
        left = self._step.left if self._step else 1
        self._done += 1
        took = duration(self._clock() - self._started_at)
        place = f"[{self._done}/{self._done + left - 1}]"
        self._console.print(f"{place} {self._line}: {_outcome(record)} ({took})", markup=False)

    def _draw(self) -> None:
        self._drawn_at = self._clock()
        if self._step is None:
            return
        said = training_words(self._step, self._clock())
        more = self._step.left - 1
        spent = self._clock() - self._began
        waiting = f", about {duration(spent / self._done * more)}" if self._done else ""
        others = f" · {more} more{waiting}" if more else ""
        self._status.update(f"{self._line} · {said or duration(self._clock() - self._started_at)}{others}")
        self._print(said)

    def _print(self, said: str) -> None:
        """Where no line can be redrawn, a plain one now and then."""
        is_due = said and said != self._said and self._clock() - self._printed_at >= PLAIN_EVERY_S
        if is_due and not self._console.is_terminal:
            self._said, self._printed_at = said, self._clock()
            self._console.print(f"{self._line}: {said}", markup=False)


def training_words(step: Step, now: float) -> str:
    """What the last evaluation of a training shows of it; empty before the first."""
    folder = step.folder
    found = read_events(rank_folder(folder, 0) / EVENTS).all(Evaluation) if folder else []
    if not found:
        return ""
    last, goal = found[-1], goal_of(step.cell.goal)
    steps = goal.steps or (round(last.step / last.epoch * (goal.epochs or 0)) if last.epoch > 0 else 0)
    score = f"loss {last.loss:.4g}" if last.accuracy is None else f"accuracy {last.accuracy:.4f}"
    words = [f"step {last.step:,} of {steps:,}" if steps else f"step {last.step:,}", score]
    if steps > last.step > 0:
        left_s = last.wall_s / last.step * (steps - last.step) - (now - last.at)
        words.append(f"{'at most ' if goal.accuracy else ''}{duration(max(0.0, left_s))} left")
    return " · ".join(words)


class Tries:
    """Progress of a search for the largest batch: one line for each try, with the time left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._left = 0

    def started(self, step: Step) -> None:
        self._left = step.left

    def polled(self) -> None:
        """A try is short; its line comes when it ends."""

    def ended(self, fit: Fit) -> None:
        left = f", about {duration((self._left - 1) * fit.took_s)} left" if self._left > 1 else ""
        self._console.print(f"batch {fit.batch}: {fit.outcome} ({duration(fit.took_s)}){left}", markup=False)


class Packing:
    """Progress of writing a dataset in the requested format; silent where nothing has to be written."""

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
        self._status.update(f"writing {done:,} of {of:,} images for {split}")
        if done == of:
            self._console.print(f"Wrote {of:,} images for {split}.")


def duration(seconds: float) -> str:
    """Such as `45 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _cell_line(cell: Cell) -> str:
    return f"{short_name(cell.network)}/{cell.dataset} {cell.framework} {how(cell)} b{cell.batch}"


def _outcome(record: Record) -> str:
    """The main figures of a run, or why there are none."""
    if not record.is_measured:
        return f"{record.outcome}: {short_reason(record.reason)}"
    words = [wording(record.cell.workload, each.name, each.unit, each.better) for each in record.figures.values()]
    if record.samples:
        words = [each for each in words if each.name == record.headline]
    shown = [
        _figure(each, value_of(record.figures[each.name], record))
        for each in words
        if not each.is_detail or each.name == record.headline
    ]
    return ", ".join(shown) + (f" ({', '.join(record.flags)})" if record.flags else "")


def _figure(words: Wording, value: float) -> str:
    """Such as `1,234 images/s`, or `accuracy 0.9710` where there is no unit."""
    text = f"{words.text(value)} {words.unit}".rstrip()
    return text if "/" in words.unit else f"{words.title.lower()} {text}"
