"""What of a run's trace is kept with its record: each reading along the timed window, in at most 200 points."""

from itertools import pairwise

from netdyno.devices.trace import Trace
from netdyno.harness.energy import Series, during

MOST = 200  # points of a reading: enough for a chart as wide as a page
GPU = "gpu0."

# The name that is kept, and the columns of the trace it may come from: the first that was read counts.
LEVELS = {
    "power_w": (GPU + "power_instant_w", GPU + "power_average_w"),
    "sm_clock_mhz": (GPU + "sm_mhz",),
    "memory_clock_mhz": (GPU + "memory_mhz",),
    "memory_bytes": (GPU + "memory_used_bytes",),
    "temperature_c": (GPU + "temperature_c",),
    "utilisation": (GPU + "utilisation",),
    "host_memory_bytes": ("host.worker_rss_bytes",),
}
# Those that the trace has as a counter: kept is how fast it grew since the reading before.
RATES = {"busy_cores": "host.worker_cpu_s", "package_w": "host.rapl_j"}


def kept_trace(trace: Trace, start: float, end: float) -> dict[str, list[list[float]]]:
    """[seconds from the start of the window, value] by name; what was not read in it is not there."""
    found = {name: _first(trace, columns, start, end) for name, columns in LEVELS.items()}
    found |= {name: _rates(during(trace.series(column), start, end)) for name, column in RATES.items()}
    return {name: _written(thin(series), start) for name, series in found.items() if series}


def thin(series: Series, most: int = MOST) -> Series:
    """At most so many points: the ends, and the lowest and the highest of equal stretches between them."""
    series = _without_level_stretches(series)
    if len(series) <= most:
        return series
    inner, stretches = series[1:-1], (most - 2) // 2
    edges = [len(inner) * index // stretches for index in range(stretches + 1)]
    kept = [point for low, high in pairwise(edges) for point in _extremes(inner[low:high])]
    return [series[0], *kept, series[-1]]


def _first(trace: Trace, columns: tuple[str, ...], start: float, end: float) -> Series:
    return next((found for column in columns if (found := during(trace.series(column), start, end))), [])


def _rates(counter: Series) -> Series:
    return [(at, (value - before) / (at - then)) for (then, before), (at, value) in pairwise(counter) if at > then]


def _without_level_stretches(series: Series) -> Series:
    """Without the points whose neighbours have the same value: a line through the rest is the same line."""
    if len(series) < 3:
        return series
    middles = zip(series, series[1:], series[2:], strict=False)
    inner = [point for before, point, after in middles if not before[1] == point[1] == after[1]]
    return [series[0], *inner, series[-1]]


def _extremes(stretch: Series) -> Series:
    """The lowest and the highest point, in order of time; one where they are the same."""
    places = {
        min(range(len(stretch)), key=lambda i: stretch[i][1]),
        max(range(len(stretch)), key=lambda i: stretch[i][1]),
    }
    return [stretch[place] for place in sorted(places)]


def _written(series: Series, start: float) -> list[list[float]]:
    """To the millisecond and to six digits: more would be noise, and a store holds many of these."""
    return [[round(at - start, 3), float(f"{value:.6g}")] for at, value in series]
