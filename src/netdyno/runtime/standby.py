"""The next run's worker stands by: it imports its framework while the run before it starts up, then waits.

It is stopped when that run is seen to have made its first step, early in its warm-up, so that nothing of it runs
while anything is timed. It builds nothing and touches no device before it is released.
"""

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Self, TypeVar

from netdyno.errors import NetdynoError
from netdyno.protocol.event_log import EVENTS, read_events
from netdyno.protocol.events import FirstStep
from netdyno.runtime.group import Group, rank_folder
from netdyno.runtime.task import Task

LEAST_CORES = 8  # importing takes one of them for seconds while the run before it compiles
LEAST_S = 1.0  # of timing: a shorter run could be through its warm-up before it is looked at again

About = TypeVar("About")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready(Generic[About]):
    """A task whose requests are written, and what its record will say about it."""

    task: Task
    about: About
    held: Group | None = None  # its ranks, if they stand by already

    def begin(self) -> Group:
        """Start the group, or release the one that stands by."""
        if self.held is None:
            return self.task.start()
        self.held.go_on()
        return self.held


class Standby(Generic[About]):
    """At most one group that stands by; as a context, it leaves nothing waiting."""

    def __init__(self) -> None:
        self._next: Ready[About] | None = None
        self._still = False

    def hold(self, make_ready: Callable[[], Ready[About]]) -> None:
        """Start a group that will wait. A failure is not reported here: its own turn will meet the same."""
        try:
            ready = make_ready()
            held = ready.task.start(hold=True)
        except (NetdynoError, OSError):
            return
        self._next, self._still = replace(ready, held=held), False

    def take(self) -> Ready[About] | None:
        """The one that stands by; its turn has come."""
        ready, self._next = self._next, None
        return ready

    def keep_still_after_first_step_in(self, folder: Path) -> None:
        """Stop what stands by once the run in this folder has made its first step."""
        if self._next is None or self._next.held is None or self._still:
            return
        if read_events(rank_folder(folder, 0) / EVENTS).first(FirstStep):
            self._next.held.signal(signal.SIGSTOP)
            self._still = True

    def dismiss(self) -> None:
        """End what stands by and delete its folder: it never was a run."""
        ready = self.take()
        if ready is not None and ready.held is not None:
            ready.held.signal(signal.SIGKILL)
            ready.held.end()
            shutil.rmtree(ready.task.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()


def may_stand_by(seconds: float) -> bool:
    """Whether a framework may be imported beside a run that starts up and will be timed for so long."""
    return (os.cpu_count() or 1) >= LEAST_CORES and seconds >= LEAST_S
