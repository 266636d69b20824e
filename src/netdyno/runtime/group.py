"""A run is a group of ranks: each has its folder, CPUs and devices; they start together and end together."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from netdyno.protocol.event_log import EVENTS, MOST_BYTES, read_last_word
from netdyno.protocol.events import Done
from netdyno.runtime.launchers.local import RunningRank

GRACE_S = 2.0  # between asking a group to end and killing it


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a rank computes. No CPUs: wherever it may; GPUs by NVML index."""

    cpus: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The running ranks of one task, in order of rank."""

    ranks: tuple[RunningRank, ...]

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(rank.process.pid for rank in self.ranks)

    def go_on(self) -> None:
        """Release ranks that hold."""
        self.signal(signal.SIGCONT)
        for rank in self.ranks:
            rank.go_on()

    def signal(self, number: int) -> None:
        for rank in self.ranks:
            rank.signal(number)

    def is_running(self, within_s: float) -> bool:
        """Whether a rank is still running after so long; returns early when the first of them ends."""
        running = [rank.process for rank in self.ranks if rank.process.poll() is None]
        if not running:
            return False
        _wait(running[0], within_s)
        return any(rank.process.poll() is None for rank in self.ranks)

    def find_failed(self) -> int | None:
        """The first rank that ended without being done, said another last word, or floods its events."""
        return next((number for number, rank in enumerate(self.ranks) if _has_failed(rank)), None)

    def end(self) -> None:
        """Ask every rank to end, kill those that do not within a grace period, and whatever they started."""
        running = [rank for rank in self.ranks if rank.process.poll() is None]
        for rank in running:
            rank.signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_S
        for rank in running:
            _wait(rank.process, max(0.0, deadline - time.monotonic()))
        for rank in self.ranks:
            rank.signal(signal.SIGKILL)
        for rank in self.ranks:
            rank.process.wait()
            rank.finish_output()


def rank_folder(folder: Path, rank: int) -> Path:
    """Where a rank's request, events and logs lie in a run's folder."""
    return folder / f"rank{rank}"


def places(ranks: int, threads: int, gpus: Sequence[int] = (), usable: Sequence[int] | None = None) -> list[Place]:
    """CPUs and GPUs for each rank: slices of `threads` CPUs that are disjoint where there are enough.

    The last CPUs come first, because the first ones serve most interrupts and whatever else runs.
    """
    cpus = sorted(_usable_cpus() if usable is None else usable)
    size = min(threads, max(1, len(cpus) // ranks))
    found = []
    for rank in range(ranks):
        start = rank * size % max(1, len(cpus))
        chosen = tuple(reversed(cpus))[start : start + size]
        whole = ranks == 1 and threads >= len(cpus)
        found.append(Place(cpus=() if whole else tuple(sorted(chosen)), gpus=tuple(gpus[rank::ranks])))
    return found


def _usable_cpus() -> Sequence[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else ()


def _has_failed(rank: RunningRank) -> bool:
    """A rank that was done may crash when it exits: its work counts."""
    events, has_ended = rank.folder / EVENTS, rank.process.poll() is not None
    word = read_last_word(events)
    if word is None:
        return has_ended or _size(events) > MOST_BYTES
    return not isinstance(word, Done)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
