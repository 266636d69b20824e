"""What of two results is compared: speed, energy, memory or power; and how sure a single run is of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from netdyno.errors import unknown
from netdyno.results.record import Record, Sample
from netdyno.results.statistics import images_per_s, median_interval

# No machine repeats a figure more closely than this, however well a few runs happen to agree.
LEAST_ERROR = 1e-4
WIDTH_IN_ERRORS = 3.92  # a 95 % interval is that many standard errors wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure of a run, and the words for a larger and a smaller one."""

    name: str
    unit: str
    larger: str
    smaller: str
    worse: str  # the one of the two that nobody wants
    read: Callable[[Record], tuple[str, float | None]]  # where the figure is from, and the figure if there is one
    error: Callable[[Record], float]  # standard error of the logarithm of a run's figure


def find_metric(name: str) -> Metric:
    """The metric of that name."""
    if name not in METRICS:
        raise unknown("metric", name, METRICS)
    return METRICS[name]


def _speed(record: Record) -> tuple[str, float | None]:
    return "samples", images_per_s(record.samples, record.cell.batch)


def _error_of_median(record: Record) -> float:
    interval = median_interval(record.samples) or _range(record.samples)
    return max(log(interval[1] / interval[0]) / WIDTH_IN_ERRORS, LEAST_ERROR)


def _range(samples: Sequence[Sample]) -> tuple[float, float]:
    """All that is known of too few blocks."""
    seconds = [sample.seconds_per_step for sample in samples]
    return min(seconds), max(seconds)


def _energy(record: Record) -> tuple[str, float | None]:
    name = "package_j_per_item" if record.cell.device == "cpu" else "j_per_item"
    return name, record.readings.get(name)


def _power(record: Record) -> tuple[str, float | None]:
    return "mean_w", record.readings.get("mean_w")


def _memory(record: Record) -> tuple[str, float | None]:
    name = "host_peak_bytes" if record.cell.device == "cpu" else "device_peak_bytes"
    return name, getattr(record, name)


def _least_error(_: Record) -> float:
    """A run is one reading of energy, memory or power: only other runs tell how far to trust it."""
    return LEAST_ERROR


SPEED = Metric(
    name="images_per_s",
    unit="images/s",
    larger="faster",
    smaller="slower",
    worse="slower",
    read=_speed,
    error=_error_of_median,
)
METRICS: Mapping[str, Metric] = {
    SPEED.name: SPEED,
    **{
        name: Metric(name=name, unit=unit, larger="more", smaller="less", worse="more", read=read, error=_least_error)
        for name, unit, read in (
            ("energy", "J/image", _energy),
            ("memory", "bytes", _memory),
            ("power", "W", _power),
        )
    },
}
