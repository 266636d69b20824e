"""The readings of a measured run: what its worker's events and its monitor's trace say about the timed window."""

import statistics

from netdyno.devices.monitor.trace import Trace
from netdyno.protocol import events
from netdyno.protocol.event_log import EventLog
from netdyno.results.cell import Cell
from netdyno.runtime.readings.gpus import read_gpus
from netdyno.runtime.readings.host import read_host
from netdyno.runtime.readings.kept_trace import kept_trace
from netdyno.runtime.readings.window import Readings, Window
from netdyno.runtime.readings.worker import read_launch, read_loading, read_stages


def timed_window(log: EventLog, items_per_step: int, launched: float, idle_w: float | None) -> Window | None:
    """When a run was timed; None if its events have no samples. `idle_w` is that of the run before it."""
    samples = log.all(events.Sample)
    if not samples:
        return None
    return Window(
        launched=launched,
        built=(log.first(events.Built) or samples[0]).at,
        start=(log.first(events.Warmup) or samples[0]).at,
        end=samples[-1].at,
        items=sum(event.steps for event in samples) * items_per_step,
        idle_w=idle_w,
    )


def read_run(log: EventLog, trace: Trace, window: Window | None, cell: Cell, items: str) -> Readings:
    """Everything that was read in the timed window of a run; `items` is what a batch holds, in the plural."""
    if window is None:
        return Readings(absent={"readings": "the worker's events do not say when it was timed"})
    found = read_host(trace, window)
    found.add(_reported(log, cell.batch, items))
    if cell.device != "cpu":
        found.add(read_gpus(trace, window))
        found.add(read_launch(log.first(events.Launch)))
    found.trace = kept_trace(trace, window.start, window.end)
    return found


def _reported(log: EventLog, batch: int, items: str) -> Readings:
    """What the worker itself read: memory that the framework keeps, the stages of a step, and loading."""
    found = Readings()
    memory, split = log.first(events.Memory), log.first(events.Split)
    if memory and memory.device_reserved_bytes is not None:
        found.values["device_reserved_bytes"] = float(memory.device_reserved_bytes)
    if split:
        found.add(read_stages(split.stages, split.absent))
    step_s = statistics.median(event.seconds / event.steps for event in log.all(events.Sample))
    found.add(read_loading(log.first(events.Phases), step_s, batch, items))
    return found
