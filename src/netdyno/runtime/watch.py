"""How a running group is watched: until it ends, one of its ranks fails, its deadline passes or the user stops it."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from netdyno.runtime.cpu_load import CpuLoad, read_cpu_load
from netdyno.runtime.group import Group

POLL_S = 0.25  # seldom enough not to disturb what is measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a group ended. Exit codes are negative for a signal, as in subprocess."""

    exit_codes: tuple[int, ...]
    failed: int | None = None  # the rank whose end or last word ended the group
    timed_out: bool = False
    out_of_memory_kills: int = 0  # by the kernel, anywhere on the machine, while the group ran
    foreign_share: float | None = None  # CPU time used by others, as a share of the machine
    stolen_share: float | None = None  # CPU time that a hypervisor gave to others


def watch(group: Group, deadline_s: float, on_poll: Callable[[], None]) -> Ending:
    """Wait for the group; at the deadline, on Ctrl-C, when a rank fails and in the end all of it is killed."""
    before, used_before = read_cpu_load(), used_s()
    end = time.monotonic() + deadline_s
    failed, timed_out = None, False
    try:
        while group.is_running(POLL_S) and (failed := group.find_failed()) is None:
            on_poll()
            if time.monotonic() >= end:
                timed_out = True
                break
        failed = group.find_failed() if failed is None and not timed_out else failed
    finally:
        group.end()
    return _ending(group, (failed, timed_out), before, used_s() - used_before)


def used_s() -> float:
    """CPU seconds of this process and of all that it started: ended workers, one that stands by, a monitor."""
    times = os.times()
    living = sum(map(_process_s, psutil.Process().children(recursive=True)))
    return living + times.user + times.system + times.children_user + times.children_system


def _process_s(process: psutil.Process) -> float:
    """CPU seconds of a process and of the children that it waited for."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended
    return float(times.user + times.system + times.children_user + times.children_system)


def _ending(group: Group, why: tuple[int | None, bool], before: CpuLoad, used_s: float) -> Ending:
    after = read_cpu_load()
    failed, timed_out = why
    return Ending(
        exit_codes=tuple(rank.process.returncode for rank in group.ranks),
        failed=failed,
        timed_out=timed_out,
        out_of_memory_kills=after.out_of_memory_kills - before.out_of_memory_kills,
        foreign_share=after.foreign_share_since(before, used_s),
        stolen_share=after.stolen_share_since(before),
    )
