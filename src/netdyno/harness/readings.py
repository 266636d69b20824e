"""The readings of a measured run: what its worker's events and its monitor's trace say about the timed window."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.devices.monitor.trace import TRACE, Trace, read_trace
from netdyno.harness.events import Story, read_story
from netdyno.results.cell import Cell
from netdyno.runtime.readings.gpus import read_gpus
from netdyno.runtime.readings.host import read_host
from netdyno.runtime.readings.kept_trace import kept_trace
from netdyno.runtime.readings.window import Readings, Window
from netdyno.runtime.readings.worker import read_launch, read_loading, read_stages


@dataclass(frozen=True, slots=True, kw_only=True)
class _Launch:
    asked_s: float
    computed_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phases:
    compute_s: float
    load_s: float
    feed_s: float
    loader: Mapping[str, float]
    turns: Sequence[Sequence[float]]


def take_readings(folder: Path, cell: Cell, launched: float, idle_w: float | None = None) -> Readings:
    """Everything that was read in the timed window of a measured run. `idle_w` is that of the run before it."""
    story = read_story(folder / "events.jsonl")
    trace = read_trace(folder / TRACE)
    try:
        window = _window(story, cell.batch, launched, idle_w)
        found = _read(story, trace, cell, window)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return Readings(absent={"readings": f"the worker's events do not say when it was timed ({error!r})"})
    found.trace = kept_trace(trace, window.start, window.end)
    return found


def _read(story: Story, trace: Trace, cell: Cell, window: Window) -> Readings:
    found = read_host(trace, window)
    reserved = (story.first("memory") or {}).get("device_reserved_bytes")
    if reserved is not None:
        found.values["device_reserved_bytes"] = float(reserved)
    if split := story.first("split"):
        found.add(read_stages(split.get("stages", {}), split.get("absent", "")))
    step_s = statistics.median(event["seconds"] / event["steps"] for event in story.all("sample"))
    phases, launch = story.first("phases"), story.first("launch")
    found.add(read_loading(_Phases(**_only(_Phases, phases)) if phases else None, step_s, cell.batch, "images"))
    if cell.device != "cpu":
        found.add(read_gpus(trace, window))
        found.add(read_launch(_Launch(**_only(_Launch, launch)) if launch else None))
    return found


def _only(kind: type[_Launch] | type[_Phases], event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in kind.__slots__}


def _window(story: Story, batch: int, launched: float, idle_w: float | None) -> Window:
    samples = story.all("sample")
    steps = sum(event["steps"] for event in samples)
    return Window(
        launched=launched,
        built=(story.first("built") or samples[0])["at"],
        start=(story.first("warmup") or samples[0])["at"],
        end=samples[-1]["at"],
        items=steps * batch,
        idle_w=idle_w,
    )
