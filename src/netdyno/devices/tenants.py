"""Which of a GPU's processes are the worker's, although their numbers may be those of another pid namespace."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


class Untold(Exception):
    """A reading that cannot be had here; the text says why."""


@dataclass(slots=True)
class Tenants:
    """Workers by the pids we know, strangers by those that the driver told before any worker was there."""

    workers: set[int] = field(default_factory=set)
    strangers: set[int] = field(default_factory=set)

    def own_bytes(self, processes: Sequence[Any]) -> int | None:
        """What the workers use; None before there is one, and where nobody can say which ones they are."""
        if not self.workers:
            self.strangers.update(process.pid for process in processes)
            return None
        ours = self._ours(processes)
        if ours is None:
            return None
        if any(process.usedGpuMemory is None for process in ours):
            raise Untold("the driver does not tell what a single process uses")
        return sum(int(process.usedGpuMemory) for process in ours)

    def _ours(self, processes: Sequence[Any]) -> list[Any] | None:
        known = [process for process in processes if self._is_worker(process.pid)]
        others = [process for process in processes if process.pid not in self.strangers]
        if known or not others:
            return known
        return others if len(others) == 1 else None

    def _is_worker(self, pid: int) -> bool:
        """A worker leads a session of its own, so whatever it starts is recognised too."""
        if pid in self.workers:
            return True
        try:
            return os.getsid(pid) in self.workers
        except OSError:
            return False  # gone, or of another namespace
