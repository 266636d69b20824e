"""Which part of a run's trace is stored with its record: each reading in the timed window, in at most 200 points."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from netdyno.devices.monitor.trace import Trace
from netdyno.runtime.readings.energy import Series, combined, during

MOST = 200  # points of a reading: enough for a chart as wide as a page

# The stored name, the columns of a GPU it may come from (the first that was read is used), and how the GPUs of a run
# combine.
GPU_LEVELS: Mapping[str, tuple[tuple[str, ...], Callable[[Sequence[float]], float]]] = {
    "power_w": (("power_instant_w", "power_average_w"), sum),
    "sm_clock_mhz": (("sm_mhz",), min),
    "memory_clock_mhz": (("memory_mhz",), min),
    "memory_bytes": (("memory_used_bytes",), sum),
    "temperature_c": (("temperature_c",), max),
    "utilisation": (("utilisation",), statistics.fmean),
}
HOST_LEVELS = {"host_memory_bytes": "host.worker_rss_bytes"}
# Counters in the trace; stored is how fast they grew since the point before.
RATES = {"busy_cores": "host.worker_cpu_s", "package_w": "host.rapl_j"}


def kept_trace(trace: Trace, start: float, end: float) -> dict[str, list[list[float]]]:
    """[seconds from the start of the window, value] by name; a reading without points is left out. Several GPUs are
    stored together by the plain name, and each alone by 'gpu<number>.<name>' with a share of the points."""
    found: dict[str, Series] = {}
    for name, (columns, rule) in GPU_LEVELS.items():
        parts = {gpu: _first(trace, gpu, columns, start, end) for gpu in trace.gpus}
        if parts and all(parts.values()):
            found[name] = thin(combined(list(parts.values()), rule))
        if len(parts) > 1:
            found |= {f"{gpu}.{name}": thin(part, MOST // len(parts)) for gpu, part in parts.items()}
    found |= {name: thin(during(trace.series(column), start, end)) for name, column in HOST_LEVELS.items()}
    found |= {name: thin(_rates(during(trace.series(column), start, end))) for name, column in RATES.items()}
    return {name: _rounded(series, start) for name, series in found.items() if series}


def thin(series: Series, most: int = MOST) -> Series:
    """At most so many points: the ends, and the lowest and the highest of equal stretches between them."""
    series = _without_level_stretches(series)
    if len(series) <= most:
        return series
    inner, stretches = series[1:-1], (most - 2) // 2
    edges = [len(inner) * index // stretches for index in range(stretches + 1)]
    kept = [point for low, high in pairwise(edges) for point in _extremes(inner[low:high])]
    return [series[0], *kept, series[-1]]


def _first(trace: Trace, gpu: str, columns: tuple[str, ...], start: float, end: float) -> Series:
    parts = (during(trace.series(f"{gpu}.{column}"), start, end) for column in columns)
    return next(filter(None, parts), [])


def _rates(counter: Series) -> Series:
    return [(at, (value - before) / (at - then)) for (then, before), (at, value) in pairwise(counter) if at > then]


def _without_level_stretches(series: Series) -> Series:
    """Without the points whose neighbours have the same value: the line through the others is the same."""
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


def _rounded(series: Series, start: float) -> list[list[float]]:
    """To the millisecond and to six digits: more would be noise, and a store holds many of these."""
    return [[round(at - start, 3), float(f"{value:.6g}")] for at, value in series]
