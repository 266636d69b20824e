"""What else the machine is doing: CPU time of everybody, time stolen by a hypervisor, kernel memory kills."""

import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Totals since boot; two of them give what happened in between. None where the system does not tell."""

    at: float
    busy_s: float | None
    stolen_s: float | None
    out_of_memory_kills: int
    cpus: int

    def foreign_share_since(self, before: "Load", own_s: float) -> float | None:
        """How much of the machine others used, given the CPU seconds that were ours."""
        if self.busy_s is None or before.busy_s is None:
            return None
        others = self.busy_s - before.busy_s - own_s
        return max(0.0, others / self._capacity_s(before))

    def stolen_share_since(self, before: "Load") -> float | None:
        """How much of the machine's time a hypervisor gave to somebody else."""
        if self.stolen_s is None or before.stolen_s is None:
            return None
        return max(0.0, (self.stolen_s - before.stolen_s) / self._capacity_s(before))

    def _capacity_s(self, before: "Load") -> float:
        return max(self.at - before.at, 1e-9) * self.cpus


def read_load(proc: Path = Path("/proc")) -> Load:
    """The totals now, from Linux's /proc; elsewhere nothing is known."""
    busy_s, stolen_s = _cpu_times(proc / "stat")
    return Load(
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
