"""CPU time of the whole machine, time stolen by a hypervisor, and processes killed for lack of memory."""

import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuLoad:
    """Totals since boot; two of them give what happened in between. None where the system does not report it."""

    at: float
    busy_s: float | None
    stolen_s: float | None
    out_of_memory_kills: int
    cpus: int

    def foreign_share_since(self, before: "CpuLoad", own_s: float) -> float | None:
        """The share of the machine that others used, given our own CPU seconds."""
        if self.busy_s is None or before.busy_s is None:
            return None
        others = self.busy_s - before.busy_s - own_s
        return max(0.0, others / self._capacity_s(before))

    def stolen_share_since(self, before: "CpuLoad") -> float | None:
        """The share of the machine's time that a hypervisor gave to other guests."""
        if self.stolen_s is None or before.stolen_s is None:
            return None
        return max(0.0, (self.stolen_s - before.stolen_s) / self._capacity_s(before))

    def _capacity_s(self, before: "CpuLoad") -> float:
        return max(self.at - before.at, 1e-9) * self.cpus


def read_cpu_load(proc: Path = Path("/proc")) -> CpuLoad:
    """The totals now, from Linux's /proc; on other systems nothing is known."""
    busy_s, stolen_s = _cpu_times(proc / "stat")
    return CpuLoad(
        at=time.monotonic(),
        busy_s=busy_s,
        stolen_s=stolen_s,
        out_of_memory_kills=_out_of_memory_kills(proc / "vmstat"),
        cpus=os.cpu_count() or 1,
    )


def _cpu_times(path: Path) -> tuple[float | None, float | None]:
    """Busy and stolen seconds. The columns: user nice system idle iowait irq softirq steal."""
    if not path.exists():
        return None, None
    ticks = [int(word) for word in path.read_text().splitlines()[0].split()[1:9]]
    hertz = os.sysconf("SC_CLK_TCK")
    stolen = ticks[7] / hertz if len(ticks) > 7 else None
    return (sum(ticks[:3]) + sum(ticks[5:7])) / hertz, stolen


def _out_of_memory_kills(path: Path) -> int:
    if not path.exists():
        return 0
    lines = (line.split() for line in path.read_text().splitlines())
    return next((int(line[1]) for line in lines if line[0] == "oom_kill"), 0)
