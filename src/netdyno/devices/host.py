"""What the host does meanwhile: the workers' memory and CPU time, everybody's CPU time, the packages' joules."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from netdyno.devices.rapl import Rapl, find_rapl

PERIOD_S = 0.2
READINGS = ("worker_rss_bytes", "worker_cpu_s", "busy_cpu_s", "load", "rapl_j")


def open_host(root: Path = Path("/")) -> "Host":
    """This machine; `root` stands for '/'."""
    rapl = find_rapl(root)
    return Host(rapl=rapl, missing={"rapl_j": rapl.problem} if rapl.problem else {})


@dataclass(slots=True, kw_only=True)
class Host:
    """A Sensor. Workers that have ended are no longer added up."""

    rapl: Rapl
    missing: dict[str, str] = field(default_factory=dict)
    name: str = "host"
    _workers: list[psutil.Process] = field(default_factory=list)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {}

    @property
    def readings(self) -> tuple[str, ...]:
        return tuple(name for name in READINGS if name not in self.missing)

    @property
    def baseline_s(self) -> float:
        return 0.0

    @property
    def refresh_s(self) -> float | None:
        return None

    @property
    def period_s(self) -> float:
        return PERIOD_S

    def poll(self, at: float) -> None:
        """The kernel's counters are renewed whenever they are read."""

    def watch(self, pid: int) -> None:
        try:
            self._workers.append(psutil.Process(pid))
        except psutil.NoSuchProcess:
            return  # it ended before it could be looked at

    def read(self, at: float) -> dict[str, float]:
        values = {"busy_cpu_s": _busy_cpu_s(), "load": os.getloadavg()[0], **self._of_workers()}
        if self.rapl.packages:
            values["rapl_j"] = self.rapl.joules()
        return values

    def _of_workers(self) -> dict[str, float]:
        seen = [used for used in map(self._of_worker, list(self._workers)) if used is not None]
        if not seen:
            return {}
        return {"worker_rss_bytes": sum(rss for rss, _ in seen), "worker_cpu_s": sum(cpu for _, cpu in seen)}

    def _of_worker(self, worker: psutil.Process) -> tuple[int, float] | None:
        """Resident bytes and CPU seconds of one worker that is still there."""
        try:
            with worker.oneshot():
                rss, cpu = worker.memory_info().rss, worker.cpu_times()
        except psutil.NoSuchProcess:
            self._workers.remove(worker)
            return None
        except psutil.AccessDenied:
            self._workers.remove(worker)
            self.missing |= dict.fromkeys(READINGS[:2], "no permission to look at the worker's process")
            return None
        # A process that has ended but was not yet waited for has no memory any more.
        return (rss, cpu.user + cpu.system) if rss else None


def _busy_cpu_s() -> float:
    """Seconds that all cores together spent on work, since the machine started."""
    times = psutil.cpu_times()
    return float(sum(getattr(times, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq")))
