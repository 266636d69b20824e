"""Power, energy, memory, clocks and temperature of a run's GPUs in its timed window, over all of them together."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from netdyno.devices.monitor.gpu import throttle_words
from netdyno.devices.monitor.trace import Trace
from netdyno.runtime.readings.energy import (
    Series,
    combined,
    during,
    joules_by_counter,
    joules_by_power,
    sampling_error,
)
from netdyno.runtime.readings.window import FEWEST, Readings, Window, why_absent

DISAGREEMENT = 0.02  # between the energy counter and the integral of power
CHANCE = 3.0  # standard errors of that integral: less may be due to the times at which the power was sampled
WARMING_C = 5.0  # over the timed window
THROTTLED_SHARE = 0.05  # of the timed window

Rule = Callable[[Sequence[float]], float]
RULES: Mapping[str, Rule] = {
    "device_seen_bytes": sum,
    "energy_counter_j": sum,
    "energy_integral_j": sum,
    "sm_mhz": min,  # ranks wait for each other: the slowest GPU decides
    "memory_mhz": min,
    "utilisation": statistics.fmean,
    "temperature_c": max,
    "throttled": max,
}  # how one value per GPU becomes the value of the run


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuWindow:
    """One GPU of the trace, seen through the timed window."""

    trace: Trace
    name: str
    window: Window

    def inside(self, column: str) -> Series:
        return during(self.trace.series(f"{self.name}.{column}"), self.window.start, self.window.end)

    def before(self, column: str) -> float | None:
        """The median before the run was launched."""
        series = self.trace.series(f"{self.name}.{column}")
        values = [value for at, value in series if at < self.window.launched]
        return statistics.median(values) if values else None

    def why(self, column: str) -> str:
        return why_absent(self.trace, f"{self.name}.{column}")

    def power(self) -> Series:
        return self.inside("power_instant_w") or self.inside("power_average_w")

    def idle_w(self) -> float | None:
        """The lowest power before there was anything to compute."""
        for column in ("power_instant_w", "power_average_w"):
            series = self.trace.series(f"{self.name}.{column}")
            if values := [value for at, value in series if at < self.window.built]:
                return min(values)
        return None

    def throttle_masks(self) -> list[int]:
        return [int(value) for _, value in self.inside("throttle")]

    def throttled_share(self) -> float:
        masks = self.throttle_masks()
        return len([mask for mask in masks if throttle_words(mask)]) / len(masks) if masks else 0.0

    def warming_c(self) -> tuple[float, float]:
        """The temperature in the first and in the last tenth of the window; zeros where there are too few points."""
        values = [value for _, value in self.inside("temperature_c")]
        if len(values) < FEWEST:
            return 0.0, 0.0
        tenth = max(1, len(values) // 10)
        return statistics.median(values[:tenth]), statistics.median(values[-tenth:])

    def foreign_processes(self) -> float:
        """Processes that are not the run's. Where the monitor cannot tell which are, one is taken for the run's."""
        own = dict(self.inside("own_processes"))
        others = [value - own.get(at, 1) for at, value in self.inside("processes")]
        return max([self.before("processes") or 0, *others])


def read_gpus(trace: Trace, window: Window) -> Readings:
    """The readings of the run: power, energy and memory are sums over its GPUs; the others follow RULES."""
    gpus = [GpuWindow(trace=trace, name=name, window=window) for name in trace.gpus]
    found = _combine([_read(gpu) for gpu in gpus], trace)
    _add_power(found, gpus, window)
    found.flags += [*_warming(gpus), *_throttling(gpus), *_foreign(gpus)]
    return found


def _read(gpu: GpuWindow) -> Readings:
    """The readings of one GPU, by the names in RULES."""
    found = Readings()
    used, before = gpu.inside("memory_used_bytes"), gpu.before("memory_used_bytes")
    if used and before is not None:
        # Above what was in use before the run: a desktop, other processes, the driver's own.
        found.values["device_seen_bytes"] = max(value for _, value in used) - before
    else:
        found.absent["device_seen_bytes"] = gpu.why("memory_used_bytes")
    _add_energy(found, gpu)
    for name in ("sm_mhz", "memory_mhz", "utilisation", "temperature_c"):
        if len(series := gpu.inside(name)) >= FEWEST:
            found.values[name] = statistics.median(value for _, value in series)
        else:
            found.absent[name] = gpu.why(name)
    if gpu.throttle_masks():
        found.values["throttled"] = gpu.throttled_share()
    else:
        found.absent["throttled"] = gpu.why("throttle")
    return found


def _add_energy(found: Readings, gpu: GpuWindow) -> None:
    counter, power = gpu.inside("energy_j"), gpu.power()
    if len(counter) >= FEWEST:
        found.values["energy_counter_j"] = joules_by_counter(counter, gpu.window.seconds)
    else:
        found.absent["energy_counter_j"] = gpu.why("energy_j")
    if len(power) >= FEWEST:
        found.values["energy_integral_j"] = joules_by_power(power, gpu.window.start, gpu.window.end)
    else:
        found.absent["energy_integral_j"] = gpu.why("power_instant_w")


def _combine(parts: Sequence[Readings], trace: Trace) -> Readings:
    """Each reading over all GPUs; absent if one of them lacks it, because a part would pass for the whole."""
    found = Readings()
    for name, rule in RULES.items():
        reasons = [part.absent[name] for part in parts if name in part.absent]
        if reasons or not parts:
            found.absent[name] = reasons[0] if reasons else trace.problem or "no GPU was monitored"
        else:
            found.values[name] = rule([part.values[name] for part in parts])
    if len(parts) > 1 and "device_seen_bytes" in found.values:
        found.values["device_seen_largest_bytes"] = max(part.values["device_seen_bytes"] for part in parts)
    return found


def _add_power(found: Readings, gpus: Sequence[GpuWindow], window: Window) -> None:
    """Derive power and energy per item. The counter has priority over the integral: it misses nothing."""
    power = [gpu.power() for gpu in gpus]
    if "energy_integral_j" in found.values:
        found.values["peak_w"] = max(value for _, value in combined(power, sum))
    else:
        found.absent["peak_w"] = found.absent["energy_integral_j"]
    idle_w = _idle_w(gpus, window)
    if idle_w is not None:
        found.values["idle_w"] = idle_w
    counter_j, integral_j = found.values.get("energy_counter_j"), found.values.get("energy_integral_j")
    _add_per_item(found, integral_j if counter_j is None else counter_j, idle_w, window)
    if counter_j is not None and integral_j is not None:
        _compare(found, counter_j, integral_j, sampling_error(power))


def _idle_w(gpus: Sequence[GpuWindow], window: Window) -> float | None:
    """The sum of each GPU's lowest power before it had work, in this run or in those just before it: for a second
    after a run a GPU is not yet idle, and the next run may begin sooner."""
    lowest = [low for gpu in gpus if (low := gpu.idle_w()) is not None]
    if not lowest or len(lowest) < len(gpus):
        return window.idle_w
    return sum(lowest) if window.idle_w is None else min(sum(lowest), window.idle_w)


def _add_per_item(found: Readings, joules: float | None, idle_w: float | None, window: Window) -> None:
    if joules is None:
        for name in ("mean_w", "j_per_item", "j_per_item_above_idle"):
            found.absent[name] = "neither power nor energy could be read"
        return
    found.values["mean_w"] = joules / window.seconds
    found.values["j_per_item"] = joules / window.items
    if idle_w is None:
        found.absent["j_per_item_above_idle"] = "the power before the run is not known"
    else:
        found.values["j_per_item_above_idle"] = (joules - idle_w * window.seconds) / window.items


def _compare(found: Readings, counter_j: float, integral_j: float, error: float) -> None:
    apart = found.values["energy_disagreement"] = integral_j / counter_j - 1
    if abs(apart) > max(DISAGREEMENT, CHANCE * error):
        found.flags.append(f"energy sources disagree (integral {apart:+.1%} off the counter)")


def _warming(gpus: Sequence[GpuWindow]) -> list[str]:
    worst = max(gpus, key=lambda gpu: abs(gpu.warming_c()[1] - gpu.warming_c()[0]), default=None)
    if worst is None:
        return []
    first, last = worst.warming_c()
    if abs(last - first) < WARMING_C:
        return []
    return [f"temperature drifting ({first:.0f} to {last:.0f} °C{_where(worst, gpus)})"]


def _throttling(gpus: Sequence[GpuWindow]) -> list[str]:
    worst = max(gpus, key=GpuWindow.throttled_share, default=None)
    if worst is None or worst.throttled_share() <= THROTTLED_SHARE:
        return []
    words = ", ".join(dict.fromkeys(word for mask in worst.throttle_masks() for word in throttle_words(mask)))
    return [f"throttled ({words}, {worst.throttled_share():.0%} of the time{_where(worst, gpus)})"]


def _foreign(gpus: Sequence[GpuWindow]) -> list[str]:
    worst = max(gpus, key=GpuWindow.foreign_processes, default=None)
    if worst is None or worst.foreign_processes() <= 0:
        return []
    return [f"foreign GPU process ({worst.foreign_processes():.0f} beside the worker{_where(worst, gpus)})"]


def _where(gpu: GpuWindow, gpus: Sequence[GpuWindow]) -> str:
    """Which GPU, where there are several."""
    return f" on GPU {gpu.name.removeprefix('gpu')}" if len(gpus) > 1 else ""
