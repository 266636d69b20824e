"""What was read while a run was timed: memory, power, energy, clocks, and what the readings say against the run.

A reading that could not be made is absent with its reason, never zero.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netdyno.devices.nvidia import throttle_words
from netdyno.devices.trace import Trace, read_trace
from netdyno.harness.energy import Series, during, joules_by_counter, joules_by_power, sampling_error
from netdyno.harness.events import Story, read_story
from netdyno.harness.kept_trace import kept_trace
from netdyno.results.cell import Cell
from netdyno.results.words import number

TRACE = "monitor.csv"  # in the run folder

DISAGREEMENT = 0.02  # between the energy counter and the integral of power
CHANCE = 3.0  # standard errors of that integral: less may come from the moments at which the power was seen
WARMING_C = 5.0  # over the timed window
THROTTLED_SHARE = 0.05  # of the timed window
HOST_BOUND = 0.9  # of a step that starts with an empty queue, spent on asking for it
INPUT_BOUND = 0.95  # of the speed without loading
FEWEST = 5  # ticks in a window that say something

GPU = "gpu0."  # a run has one device so far; a second would be "gpu1."


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The timed part of a run, on the clock that monitor and worker share, and how much was trained in it."""

    launched: float  # when the worker was started: what was read before is the machine without it
    built: float  # until when the device had nothing to compute
    start: float
    end: float
    images: int
    idle_w: float | None = None  # the lowest power that runs just before this one have seen

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(slots=True)
class Readings:
    """Values by name, the reasons of those that are absent, and what is weak about the run."""

    values: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    trace: dict[str, list[list[float]]] = field(default_factory=dict)  # see kept_trace.py


def take_readings(folder: Path, cell: Cell, launched: float, idle_w: float | None = None) -> Readings:
    """Everything that was read in the timed window of a measured run. `idle_w` is what the run before it had."""
    story = read_story(folder / "events.jsonl")
    trace = read_trace(folder / TRACE)
    try:
        window = _window(story, cell.batch, launched, idle_w)
        parts = _parts(story, trace, cell, window)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return Readings(absent={"readings": f"the worker's events do not say when it was timed ({error!r})"})
    return Readings(
        values={name: value for part in parts for name, value in part.values.items()},
        absent={name: reason for part in parts for name, reason in part.absent.items()},
        flags=[flag for part in parts for flag in part.flags],
        trace=kept_trace(trace, window.start, window.end),
    )


def _parts(story: Story, trace: Trace, cell: Cell, window: Window) -> list[Readings]:
    parts = [read_host(trace, window), _told(story), _loading(story, cell.batch)]
    return [*parts, read_gpu(trace, window), _asking(story)] if cell.device != "cpu" else parts


def read_host(trace: Trace, window: Window) -> Readings:
    """How many cores the worker kept busy, and what the processor's own counters say of energy."""
    found = Readings()
    cpu = during(trace.series("host.worker_cpu_s"), window.start, window.end)
    if len(cpu) >= 2:
        found.values["busy_cores"] = (cpu[-1][1] - cpu[0][1]) / (cpu[-1][0] - cpu[0][0])
    else:
        found.absent["busy_cores"] = _why(trace, "host.worker_cpu_s")
    package = during(trace.series("host.rapl_j"), window.start, window.end)
    if len(package) >= FEWEST:
        found.values["package_j_per_item"] = joules_by_counter(package, window.seconds) / window.images
    else:
        found.absent["package_j_per_item"] = _why(trace, "host.rapl_j")
    return found


def read_gpu(trace: Trace, window: Window) -> Readings:
    """Memory, power, energy, clocks and temperature of the device while it trained."""
    found = Readings()
    _memory(found, trace, window)
    _power(found, trace, window)
    for name in ("sm_mhz", "memory_mhz", "utilisation"):
        _middle(found, name, _inside(trace, name, window), _why(trace, GPU + name))
    _temperature(found, _inside(trace, "temperature_c", window), _why(trace, GPU + "temperature_c"))
    _disturbances(found, trace, window)
    return found


def _window(story: Story, batch: int, launched: float, idle_w: float | None) -> Window:
    samples = story.all("sample")
    steps = sum(event["steps"] for event in samples)
    return Window(
        launched=launched,
        built=(story.first("built") or samples[0])["at"],
        start=(story.first("warmup") or samples[0])["at"],
        end=samples[-1]["at"],
        images=steps * batch,
        idle_w=idle_w,
    )


def _asking(story: Story) -> Readings:
    """Does the device wait for what it is asked to do? Then a faster device would be no faster."""
    launch = story.first("launch")
    if launch is None:
        return Readings(absent={"asked_s": "the worker did not say"})
    asked_s, computed_s = launch["asked_s"], launch["computed_s"]
    found = Readings(values={"asked_s": asked_s})
    if asked_s >= HOST_BOUND * computed_s:
        found.flags.append(f"host-bound (asking takes {1e3 * asked_s:.3g} of {1e3 * computed_s:.3g} ms a step)")
    return found


def _told(story: Story) -> Readings:
    """What the worker itself read: memory that the framework keeps, and the stages of a step."""
    found = Readings()
    reserved = (story.first("memory") or {}).get("device_reserved_bytes")
    if reserved is not None:
        found.values["device_reserved_bytes"] = float(reserved)
    split = story.first("split")
    if split and "absent" in split:
        found.absent["split"] = split["absent"]
    elif split:
        found.values |= {f"{stage}_s": seconds for stage, seconds in split["stages"].items()}
    return found


def _loading(story: Story, batch: int) -> Readings:
    """Does the device wait for images? Computing and loading were also timed apart."""
    phases = story.first("phases")
    if phases is None:
        return Readings()
    samples = story.all("sample")
    fed = batch / statistics.median(event["seconds"] / event["steps"] for event in samples)
    compute, load = batch / phases["compute_s"], batch / phases["load_s"]
    found = Readings(values={"compute_items_per_s": compute, "load_items_per_s": load})
    found.values["feed_items_per_s"] = batch / phases["feed_s"]
    stages = {name.removesuffix("_s"): seconds for name, seconds in phases["loader"].items()}
    found.values |= {f"load_{stage}_s": seconds for stage, seconds in stages.items()}
    if fed < INPUT_BOUND * compute and load < compute:
        most = f", most of it {max(stages, key=stages.__getitem__)}" if stages else ""
        found.flags.append(
            f"input-bound (the loader gives {number(load)} images/s{most}; the device could take {number(compute)})"
        )
    elif _is_slowed(phases["turns"]):
        found.flags.append(f"slowed by feeding (without, it would make {number(compute)} images/s)")
    return found


def _is_slowed(turns: Sequence[tuple[float, float]]) -> bool:
    """Whether feeding slows the steps: clearly, and in every turn, since a shared machine's speed drifts."""
    ratios = [without / fed for without, fed in turns]
    return statistics.median(ratios) < INPUT_BOUND and max(ratios) < 1


def _memory(found: Readings, trace: Trace, window: Window) -> None:
    """Above what was in use before the worker came: a desktop, other processes, the driver's own."""
    used = _inside(trace, "memory_used_bytes", window)
    before = _before(trace, "memory_used_bytes", window)
    if used and before is not None:
        found.values["device_seen_bytes"] = max(value for _, value in used) - before
    else:
        found.absent["device_seen_bytes"] = _why(trace, GPU + "memory_used_bytes")


def _power(found: Readings, trace: Trace, window: Window) -> None:
    power = _inside(trace, "power_instant_w", window) or _inside(trace, "power_average_w", window)
    idle_w = _idle_w(trace, window)
    counter = _inside(trace, "energy_j", window)
    energies = []
    if len(counter) >= FEWEST:
        energies.append(joules_by_counter(counter, window.seconds))
        found.values["energy_counter_j"] = energies[-1]
    else:
        found.absent["energy_counter_j"] = _why(trace, GPU + "energy_j")
    if len(power) >= FEWEST:
        energies.append(joules_by_power(power, window.start, window.end))
        found.values |= {"energy_integral_j": energies[-1], "peak_w": max(value for _, value in power)}
    else:
        found.absent["energy_integral_j"] = found.absent["peak_w"] = _why(trace, GPU + "power_instant_w")
    if idle_w is not None:
        found.values["idle_w"] = idle_w
    _energy(found, energies, idle_w, window)
    if len(energies) == 2:
        _compare(found, energies[0], energies[1], sampling_error(power))


def _idle_w(trace: Trace, window: Window) -> float | None:
    """The lowest power before there was anything to compute, in this run or in those just before it: for a second
    after a run a device is still wide awake, and the next one may begin sooner."""
    for column in ("power_instant_w", "power_average_w"):
        values = [value for at, value in trace.series(GPU + column) if at < window.built]
        if values:
            return min(values if window.idle_w is None else [*values, window.idle_w])
    return window.idle_w


def _energy(found: Readings, energies: Sequence[float], idle_w: float | None, window: Window) -> None:
    """The counter's word goes before the integral's: it misses nothing between two readings."""
    if not energies:
        for name in ("mean_w", "j_per_item", "j_per_item_above_idle"):
            found.absent[name] = "neither power nor energy could be read"
        return
    found.values["mean_w"] = energies[0] / window.seconds
    found.values["j_per_item"] = energies[0] / window.images
    if idle_w is None:
        found.absent["j_per_item_above_idle"] = "the power before the run is not known"
    else:
        found.values["j_per_item_above_idle"] = (energies[0] - idle_w * window.seconds) / window.images


def _compare(found: Readings, counter_j: float, integral_j: float, error: float) -> None:
    apart = found.values["energy_disagreement"] = integral_j / counter_j - 1
    if abs(apart) > max(DISAGREEMENT, CHANCE * error):
        found.flags.append(f"energy sources disagree (integral {apart:+.1%} off the counter)")


def _temperature(found: Readings, series: Series, reason: str) -> None:
    if len(series) < FEWEST:
        found.absent["temperature_c"] = reason
        return
    found.values["temperature_c"] = statistics.median(value for _, value in series)
    tenth = max(1, len(series) // 10)
    first, last = (statistics.median(v for _, v in part) for part in (series[:tenth], series[-tenth:]))
    if abs(last - first) >= WARMING_C:
        found.flags.append(f"temperature drifting ({first:.0f} to {last:.0f} °C)")


def _disturbances(found: Readings, trace: Trace, window: Window) -> None:
    masks = [int(value) for _, value in _inside(trace, "throttle", window)]
    if masks:
        throttled = [mask for mask in masks if throttle_words(mask)]
        share = found.values["throttled"] = len(throttled) / len(masks)
        if share > THROTTLED_SHARE:
            words = ", ".join(dict.fromkeys(word for mask in throttled for word in throttle_words(mask)))
            found.flags.append(f"throttled ({words}, {share:.0%} of the time)")
    else:
        found.absent["throttled"] = _why(trace, GPU + "throttle")
    before = _before(trace, "processes", window) or 0
    strangers = max([before, *(value - 1 for _, value in _inside(trace, "processes", window))])
    if strangers > 0:
        found.flags.append(f"foreign GPU process ({strangers:.0f} beside the worker)")


def _middle(found: Readings, name: str, series: Series, reason: str) -> None:
    if len(series) < FEWEST:
        found.absent[name] = reason
    else:
        found.values[name] = statistics.median(value for _, value in series)


def _inside(trace: Trace, column: str, window: Window) -> Series:
    return during(trace.series(GPU + column), window.start, window.end)


def _before(trace: Trace, column: str, window: Window) -> float | None:
    """The median before the worker was there."""
    values = [value for at, value in trace.series(GPU + column) if at < window.launched]
    return statistics.median(values) if values else None


def _why(trace: Trace, column: str) -> str:
    return trace.missing.get(column) or trace.problem or "too few readings in the timed window"
