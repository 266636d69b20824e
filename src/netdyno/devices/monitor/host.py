"""What the host does during a run: memory and CPU time of its ranks, CPU time of all processes, package energy."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from netdyno.devices.monitor.rapl import Rapl, find_rapl
from netdyno.devices.monitor.trace import Fact

PERIOD_S = 0.2
SESSIONS_S = 1.0  # between two searches for processes that ranks have started: each looks at every pid
READINGS = ("worker_rss_bytes", "worker_cpu_s", "busy_cpu_s", "load", "rapl_j")


def open_host(root: Path = Path("/")) -> "Host":
    """This machine; `root` stands for '/'."""
    rapl = find_rapl(root)
    return Host(rapl=rapl, missing={"rapl_j": rapl.problem} if rapl.problem else {})


@dataclass(slots=True, kw_only=True)
class Rank:
    """One rank and the other processes of its session."""

    process: psutil.Process
    children: list[psutil.Process] = field(default_factory=list)
    rss_bytes: int = 0
    cpu_s: float = 0.0


@dataclass(slots=True, kw_only=True)
class Host:
    """A Sensor. Memory is that of the ranks themselves, because what they start may share their pages; CPU time
    includes what they start. The CPU time of a rank that has ended stays in the sum, so that the sum never falls."""

    rapl: Rapl
    missing: dict[str, str] = field(default_factory=dict)
    name: str = "host"
    _ranks: list[Rank] = field(default_factory=list)
    _ended_cpu_s: float = 0.0
    _sessions_due: float = 0.0

    @property
    def facts(self) -> Mapping[str, Fact]:
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
        """The kernel's counters are refreshed whenever they are read."""

    def watch(self, pids: Sequence[int]) -> None:
        for pid in pids:
            try:
                self._ranks.append(Rank(process=psutil.Process(pid)))
            except psutil.NoSuchProcess:
                continue  # it ended before it could be read

    def read(self, at: float) -> dict[str, float]:
        values = {"busy_cpu_s": _busy_cpu_s(), "load": os.getloadavg()[0], **self._of_ranks(at)}
        if self.rapl.packages:
            values["rapl_j"] = self.rapl.joules()
        return values

    def _of_ranks(self, at: float) -> dict[str, float]:
        if self._ranks and at >= self._sessions_due:
            _find_children(self._ranks)
            self._sessions_due = at + SESSIONS_S
        living = [rank for rank in list(self._ranks) if self._update(rank)]
        if not living:
            return {}
        return {
            "worker_rss_bytes": sum(rank.rss_bytes for rank in living),
            "worker_cpu_s": self._ended_cpu_s + sum(rank.cpu_s for rank in self._ranks),
        }

    def _update(self, rank: Rank) -> bool:
        """Read one rank; whether it is still running."""
        try:
            with rank.process.oneshot():
                rank.rss_bytes = rank.process.memory_info().rss
                cpu_s = _cpu_s(rank.process)
        except psutil.NoSuchProcess:
            self._remove(rank)
            return False
        except psutil.AccessDenied:
            self._remove(rank)
            self.missing |= dict.fromkeys(READINGS[:2], "no permission to read the worker's process")
            return False
        rank.cpu_s = max(rank.cpu_s, cpu_s + sum(map(_find_cpu_s, rank.children)))
        # A process that has ended but was not yet waited for has no memory.
        return rank.rss_bytes > 0

    def _remove(self, rank: Rank) -> None:
        self._ranks.remove(rank)
        self._ended_cpu_s += rank.cpu_s


def _find_children(ranks: Sequence[Rank]) -> None:
    """Assign every process to the rank whose session it is in."""
    by_session = {rank.process.pid: rank for rank in ranks}
    for rank in ranks:
        rank.children = []
    for pid in psutil.pids():
        session = _find_session(pid)
        if session in by_session and pid != session:
            _add_child(by_session[session], pid)


def _find_session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1  # it has ended


def _add_child(rank: Rank, pid: int) -> None:
    try:
        rank.children.append(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return  # it has ended


def _cpu_s(process: psutil.Process) -> float:
    """Its own CPU seconds and those of the children that it has waited for."""
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def _find_cpu_s(process: psutil.Process) -> float:
    try:
        return _cpu_s(process)
    except psutil.Error:
        return 0.0  # it has ended: its parent's counter includes it


def _busy_cpu_s() -> float:
    """Seconds that all cores together spent on work since the machine started."""
    times = psutil.cpu_times()
    return float(sum(getattr(times, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq")))
