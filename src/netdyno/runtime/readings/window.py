"""The timed window of a run, and the readings that are made in it."""

from dataclasses import dataclass, field

from netdyno.devices.monitor.trace import Trace

FEWEST = 5  # points in a window that make a reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The timed part of a run, on the clock that monitor and ranks share, and how many items were processed in it."""

    launched: float  # when the first rank was started: earlier points show the machine without the run
    built: float  # until when the devices had nothing to compute
    start: float
    end: float
    items: int  # of all ranks together
    idle_w: float | None = None  # the lowest power of the same GPUs in the runs just before this one

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(slots=True)
class Readings:
    """Values by name, the reasons for those that are absent, and what makes the run less trustworthy."""

    values: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    trace: dict[str, list[list[float]]] = field(default_factory=dict)  # see kept_trace.py

    def add(self, other: "Readings") -> None:
        """Take over everything in the other readings."""
        self.values |= other.values
        self.absent |= other.absent
        self.flags += other.flags
        self.trace |= other.trace


def why_absent(trace: Trace, column: str) -> str:
    """Why a column of the trace makes no reading."""
    return trace.missing.get(column) or trace.problem or "too few readings in the timed window"
