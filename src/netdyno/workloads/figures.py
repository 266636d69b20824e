"""The figures of a run: named quantities with a unit and a direction, and how those of several ranks combine."""

import statistics
from collections.abc import Sequence

from netdyno.protocol.event_log import EventLog
from netdyno.protocol.events import FirstStep, Memory, Sample, Trained
from netdyno.results.figure import Figure

MORE, LESS = "more", "less"


def by_name(figures: Sequence[Figure | None]) -> dict[str, Figure]:
    """In the order in which they are shown; what was not measured is left out."""
    return {figure.name: figure for figure in figures if figure is not None}


def find_figure(name: str, unit: str, better: str, value: float | None, source: str = "") -> Figure | None:
    """A figure of one value, where there is one; `source` is the reading that it is, where there are several."""
    return None if value is None else Figure(name, unit, better, value, source=source)


def throughput(logs: Sequence[EventLog], batch: int, item: str) -> Figure:
    """Items per second of the whole group, which is as fast as its slowest rank."""
    per_step = float(batch * len(logs))
    rate = per_step / step_s(slowest(logs))
    return Figure("throughput", f"{plural(item)}/s", MORE, rate, per_step)


def slowest(logs: Sequence[EventLog]) -> EventLog:
    """The log of the rank with the longest step; ranks that train together wait for it."""
    return max(logs, key=step_s)


def step_s(log: EventLog) -> float:
    """Seconds per step at the median block."""
    return statistics.median(sample.seconds / sample.steps for sample in log.all(Sample))


def first_step_s(logs: Sequence[EventLog]) -> float | None:
    """Of the rank that took longest."""
    return max((event.seconds for log in logs for event in log.all(FirstStep)), default=None)


def memory_bytes(logs: Sequence[EventLog], device: str) -> float | None:
    """The peak of all ranks together: of their devices, or of the host where they compute on the CPU."""
    events = [event for log in logs if (event := log.first(Memory))]
    peaks = [event.host_peak_bytes if device == "cpu" else event.device_peak_bytes for event in events]
    known = [peak for peak in peaks if peak is not None]
    return float(sum(known)) if known and len(known) == len(logs) else None


def trained_s(logs: Sequence[EventLog]) -> tuple[float | None, float | None]:
    """Seconds of training and of training with evaluations, of the rank that took longest."""
    ended = [event for log in logs for event in log.all(Trained)]
    return max((e.train_s for e in ended), default=None), max((e.wall_s for e in ended), default=None)


def plural(item: str) -> str:
    """`image` → `images`."""
    return f"{item}s"
