"""The next run's worker stands by: it imports its framework while the run before it starts up, then waits.

It is stopped when that run is seen to have made its first step, early in its warm-up, so that nothing of it runs
while anything is timed. It builds nothing and touches no device before it is told to go on.
"""

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.harness.events import read_story
from netdyno.harness.launch import Command, Running, launch

LEAST_CORES = 8  # importing takes one of them for seconds while the run before it compiles
LEAST_S = 1.0  # of timing: a shorter run could be through its warm-up before anybody looks at it again


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A run with its request written: what starts it, and what its record will say about it."""

    folder: Path
    command: Command
    about: Mapping[str, Any]
    held: Running | None = None  # its worker, if it stands by already

    def begin(self) -> Running:
        """Start the worker, or let the one that stands by go on."""
        if self.held is None:
            return launch(self.command)
        _tell(self.held, signal.SIGCONT)
        self.held.go_on()
        return self.held


class Standby:
    """At most one worker that stands by."""

    def __init__(self) -> None:
        self._next: Ready | None = None
        self._still = False

    def hold(self, make_ready: Callable[[], Ready]) -> None:
        """Start its worker, which will wait. Where that fails nothing is told: its turn will meet the same."""
        try:
            ready = make_ready()
            held = launch(replace(ready.command, holds=True))
        except (NetdynoError, OSError):
            return
        self._next, self._still = replace(ready, held=held), False

    def take(self) -> Ready | None:
        """The one that stands by; its turn has come."""
        ready, self._next = self._next, None
        return ready

    def keep_still_after_first_step_in(self, folder: Path) -> None:
        """Stop what stands by once the run in this folder has made its first step."""
        if self._next is None or self._next.held is None or self._still:
            return
        if read_story(folder / "events.jsonl").first("first_step"):
            _tell(self._next.held, signal.SIGSTOP)
            self._still = True

    def dismiss(self) -> None:
        """End what stands by and leave nothing of it: it never was a run."""
        ready = self.take()
        if ready is not None and ready.held is not None:
            _tell(ready.held, signal.SIGKILL)
            ready.held.process.wait()
            ready.held.finish_output()
            shutil.rmtree(ready.folder)


@contextmanager
def standing_by() -> Iterator[Standby]:
    """Whatever happens, nobody is left waiting."""
    standby = Standby()
    try:
        yield standby
    finally:
        standby.dismiss()


def may_stand_by(seconds: float) -> bool:
    """Whether one may import beside another that starts up and will be timed for so long."""
    return (os.cpu_count() or 1) >= LEAST_CORES and seconds >= LEAST_S


def _tell(running: Running, number: signal.Signals) -> None:
    try:
        os.killpg(running.process.pid, number)
    except ProcessLookupError:
        return  # it has ended; its turn will say how
