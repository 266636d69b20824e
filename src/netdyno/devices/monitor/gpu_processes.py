"""Which processes on a GPU belong to the run, although NVML may report pids of another namespace."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


class NotReadable(Exception):
    """A reading that cannot be had on this machine; the text gives the reason."""


class GpuProcess(Protocol):
    """A process as NVML reports it."""

    pid: int
    usedGpuMemory: int | None  # noqa: N815


@dataclass(slots=True)
class GpuProcesses:
    """The ranks by pid, and the pids that were on the GPU before any rank started."""

    ranks: set[int] = field(default_factory=set)
    earlier: set[int] = field(default_factory=set)

    def own(self, processes: Sequence[GpuProcess]) -> list[GpuProcess] | None:
        """Those of the run; None before it has started, and where it cannot be decided which ones they are."""
        if not self.ranks:
            self.earlier.update(process.pid for process in processes)
            return None
        known = [process for process in processes if self._is_own(process.pid)]
        unknown = [process for process in processes if process.pid not in self.earlier]
        if known or not unknown:
            return known
        return unknown if len(unknown) == 1 else None

    def own_bytes(self, processes: Sequence[GpuProcess]) -> int | None:
        """The memory that the run uses; None where `own` is."""
        own = self.own(processes)
        if own is None:
            return None
        used = [process.usedGpuMemory for process in own]
        if None in used:
            raise NotReadable("the driver does not report the memory of a single process")
        return sum(int(memory) for memory in used if memory is not None)

    def own_count(self, processes: Sequence[GpuProcess]) -> int | None:
        """How many belong to the run; None where `own` is."""
        own = self.own(processes)
        return None if own is None else len(own)

    def _is_own(self, pid: int) -> bool:
        """A rank leads a session, so the processes that it starts are recognised as well."""
        if pid in self.ranks:
            return True
        try:
            return os.getsid(pid) in self.ranks
        except OSError:
            return False  # it has ended, or it is of another namespace
