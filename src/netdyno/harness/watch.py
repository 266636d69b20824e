"""How a running worker is watched: until it ends, its deadline passes, or the user stops everything."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from netdyno.harness.launch import Running
from netdyno.runtime.cpu_load import CpuLoad, read_cpu_load

POLL_S = 0.25  # seldom enough not to disturb what is measured
GRACE_S = 2.0
STACK = ("[bt]", "Stack trace", "***")  # how libraries begin the lines of a stack, which tell a user nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a worker's process ended. `exit_code` is negative for a signal, as in subprocess."""

    exit_code: int
    timed_out: bool
    out_of_memory_kills: int  # by the kernel, anywhere on the machine, while the worker lived
    foreign_share: float | None  # CPU time used by others, as a share of the machine
    stolen_share: float | None  # CPU time that a hypervisor gave to others


def watch(running: Running, deadline_s: float, on_poll: Callable[[], None]) -> Ending:
    """Wait for the worker; at the deadline, on Ctrl-C and after it ends its whole group is killed."""
    process = running.process
    before, used_before = read_cpu_load(), used_s()
    end = time.monotonic() + deadline_s
    timed_out = False
    try:
        while _still_running(process):
            on_poll()
            if time.monotonic() >= end:
                timed_out = True
                break
    finally:
        kill_group(process)
        running.finish_output()
    return _ending(process, timed_out, before, used_s() - used_before)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End the worker and whatever it started."""
    if process.poll() is None:
        _signal_group(process.pid, signal.SIGTERM)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
    _signal_group(process.pid, signal.SIGKILL)


def tail(path: Path, most: int = 300) -> str:
    """The last words in a log, in one line."""
    if not path.exists():
        return ""
    lines = [line.strip() for line in path.read_text(errors="replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith(STACK)]
    return " | ".join(lines[-3:])[-most:]


def used_s() -> float:
    """CPU seconds of this process and of all that it started: ended workers, one that stands by, a monitor."""
    times = os.times()
    living = sum(map(_process_s, psutil.Process().children(recursive=True)))
    return living + times.user + times.system + times.children_user + times.children_system


def _process_s(process: psutil.Process) -> float:
    """With what it waited for."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended
    return float(times.user + times.system + times.children_user + times.children_system)


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(POLL_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left in the group


def _ending(process: subprocess.Popen[bytes], timed_out: bool, before: CpuLoad, used_s: float) -> Ending:
    after = read_cpu_load()
    return Ending(
        exit_code=process.returncode,
        timed_out=timed_out,
        out_of_memory_kills=after.out_of_memory_kills - before.out_of_memory_kills,
        foreign_share=after.foreign_share_since(before, used_s),
        stolen_share=after.stolen_share_since(before),
    )
