"""What disturbs a measurement on this machine, apart from the state of its GPUs, and what to do about it."""

import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from netdyno.devices.doctor.finding import GIB, Finding, State, unknown
from netdyno.devices.machine import ROOT, Machine
from netdyno.devices.nvidia.gpus import count_other_processes
from netdyno.devices.system_files import memory_bytes, read_text


def machine_findings(
    machine: Machine,
    load: float | None,
    *,
    home: Path | None = None,
    variables: Mapping[str, str] | None = None,
    root: Path = ROOT,
) -> list[Finding]:
    """Every finding, the good ones included. `load`: the load average of the last minute; `home`: the folder whose
    disk is checked; `variables`: what workers inherit."""
    findings = [
        _load(machine, load),
        _cores(machine),
        _smt(machine),
        _governor(machine),
        _turbo(machine),
        _guest(machine, root),
        _memory(root, machine.memory_limit_bytes),
        _swap(root),
        _variables(variables or {}),
    ]
    if home is not None:
        findings.append(_disk(home))
    findings.append(_gpus(machine))
    if machine.gpus:
        findings.append(_gpu_processes(count_other_processes()))
    return findings


def steal_share(
    root: Path = ROOT, window_s: float = 0.2, sleep: Callable[[float], None] = time.sleep
) -> float | None:
    """The share of CPU time that a hypervisor gave to other guests during a short window."""
    before = _cpu_times(root)
    sleep(window_s)
    after = _cpu_times(root)
    if before is None or after is None or after[1] <= before[1]:
        return None
    return max(0.0, (after[0] - before[0]) / (after[1] - before[1]))


def _load(machine: Machine, load: float | None) -> Finding:
    if load is None:
        return unknown("load", "this system has no load average")
    per_core = load / machine.usable_cores
    state: State = "good" if per_core <= 0.2 else "weak" if per_core <= 0.5 else "bad"
    hint = "" if state == "good" else "Stop other programs: they take cores from what is measured."
    return Finding(what="load", state=state, seen=f"{load:.2f} ({per_core:.2f} per core)", hint=hint)


def _cores(machine: Machine) -> Finding:
    usable, logical = machine.usable_cores, machine.logical_cores
    seen = f"{usable:g} usable of {logical} logical"
    if usable % 1:
        hint = "A quota of a fraction of a core stops the process in bursts; set a whole number of cores."
        return Finding(what="cores", state="bad", seen=seen, hint=hint)
    if usable >= 4:
        return Finding(what="cores", state="good", seen=seen)
    hint = "The system and netdyno itself run on the measured cores; leave one core free."
    return Finding(what="cores", state="weak" if usable > 1 else "bad", seen=seen, hint=hint)


def _smt(machine: Machine) -> Finding:
    if machine.smt is None:
        return unknown("SMT", "the kernel does not report whether cores run two threads")
    if not machine.smt:
        return Finding(what="SMT", state="good", seen="off")
    hint = "Use as many threads as there are physical cores, or switch it off (nosmt)."
    return Finding(what="SMT", state="weak", seen="on: two threads share a core", hint=hint)


def _governor(machine: Machine) -> Finding:
    if not machine.governor:
        return unknown("governor", "no frequency control is visible, as is usual in virtual machines")
    if machine.governor == "performance":
        return Finding(what="governor", state="good", seen=machine.governor)
    hint = "Set it to performance: sudo cpupower frequency-set -g performance"
    return Finding(what="governor", state="weak", seen=machine.governor, hint=hint)


def _turbo(machine: Machine) -> Finding:
    if machine.turbo is None:
        return unknown("turbo", "no turbo control is visible, as is usual in virtual machines")
    if not machine.turbo:
        return Finding(what="turbo", state="good", seen="off")
    hint = "Clocks depend on temperature; switch it off for comparisons (no_turbo or boost under /sys)."
    return Finding(what="turbo", state="weak", seen="on", hint=hint)


def _guest(machine: Machine, root: Path) -> Finding:
    container = f"container: {machine.container}" if machine.container else ""
    if not machine.hypervisor:
        return Finding(what="virtualisation", state="good", seen=container or "none seen")
    guest = "; ".join(filter(None, [f"hypervisor: {machine.hypervisor}", container]))
    steal = steal_share(root)
    if steal is None:
        hint = "Stolen CPU time cannot be read here; repeat runs at other times of the day."
        return Finding(what="virtualisation", state="weak", seen=guest, hint=hint)
    seen = f"{guest}; {steal:.1%} of CPU time stolen"
    if steal > 0.01:
        hint = "Other guests take CPU time now; measure later or on a dedicated machine."
        return Finding(what="virtualisation", state="bad", seen=seen, hint=hint)
    hint = "Other guests may take CPU time later; more runs would show it."
    return Finding(what="virtualisation", state="weak", seen=seen, hint=hint)


def _memory(root: Path, limit_bytes: int | None) -> Finding:
    available = memory_bytes(root, "MemAvailable")
    if available is None:
        return unknown("memory", "the system does not report how much is available")
    available = min(available, limit_bytes) if limit_bytes else available
    state: State = "good" if available >= 4 * GIB else "weak" if available >= 2 * GIB else "bad"
    hint = "" if state == "good" else "Close other programs or choose small networks and batches."
    return Finding(what="memory", state=state, seen=f"{available / GIB:.1f} GiB available", hint=hint)


def _swap(root: Path) -> Finding:
    total, free = memory_bytes(root, "SwapTotal"), memory_bytes(root, "SwapFree")
    if total is None or free is None:
        return unknown("swap", "the system does not report whether swap is in use")
    used_mib = (total - free) / 2**20
    if used_mib < 64:
        return Finding(what="swap", state="good", seen=f"{used_mib:.0f} MiB in use")
    hint = "Swapped-out memory returns during a measurement; free memory, then run: sudo swapoff -a"
    return Finding(what="swap", state="weak", seen=f"{used_mib:.0f} MiB in use", hint=hint)


def _variables(variables: Mapping[str, str]) -> Finding:
    """Which GPUs are visible is the user's choice; all others change how the same thing is computed."""
    seen = ", ".join(f"{name}={value}" for name, value in variables.items() if name != "CUDA_VISIBLE_DEVICES")
    if not seen:
        return Finding(what="variables", state="good", seen="none that changes how frameworks compute")
    hint = "They change how frameworks compute, and every record stores them; unset those that are not intended."
    return Finding(what="variables", state="weak", seen=seen, hint=hint)


def _disk(home: Path) -> Finding:
    existing = next((folder for folder in (home, *home.parents) if folder.exists()), home)
    try:
        free = shutil.disk_usage(existing).free
    except OSError as error:
        return unknown("disk", f"{existing}: {error.strerror}")
    state: State = "good" if free >= 10 * GIB else "weak" if free >= 3 * GIB else "bad"
    hint = "" if state == "good" else "A framework takes 1 to 6 GiB; name a folder with more space in NETDYNO_HOME."
    return Finding(what="disk", state=state, seen=f"{free / GIB:.1f} GiB free at {home}", hint=hint)


def _gpus(machine: Machine) -> Finding:
    if machine.gpu_problem:
        hint = "The driver is installed but does not answer; check it before measuring on a GPU."
        return Finding(what="GPU", state="bad", seen=machine.gpu_problem, hint=hint)
    names = ", ".join(gpu.name for gpu in machine.gpus)
    return Finding(what="GPU", state="good", seen=names or "none: only CPU cells can be measured")


def _gpu_processes(others: int | None) -> Finding:
    if others is None:
        return unknown("GPU processes", "the driver does not list them")
    if not others:
        return Finding(what="GPU processes", state="good", seen="none")
    hint = "They share the GPU with what is measured; nvidia-smi lists them."
    return Finding(what="GPU processes", state="bad", seen=f"{others} other", hint=hint)


def _cpu_times(root: Path) -> tuple[int, int] | None:
    """Stolen and total clock ticks so far."""
    match = re.match(r"cpu\s+([\d ]+)", read_text(root, "/proc/stat") or "")
    ticks = [int(number) for number in match[1].split()] if match else []
    # The first eight are user, nice, system, idle, iowait, irq, softirq, steal; guest time is part of user.
    return (ticks[7], sum(ticks[:8])) if len(ticks) >= 8 else None
