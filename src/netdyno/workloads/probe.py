"""Which execution is the fastest? Each is tried for a short time, in one process, before the first run of a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netdyno.graph.model import Programme
from netdyno.protocol.event_log import EventLog
from netdyno.protocol.events import Done, Probe
from netdyno.protocol.request import ProbeRequest
from netdyno.results.cell import Cell
from netdyno.results.record import Record
from netdyno.runtime.judge import one_line
from netdyno.runtime.worker import Setup, Worker, request_fields

PROBE_S = 0.25  # for each execution, once to warm up and once to time


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The execution that a cell's runs use, and what each came to when it was tried: seconds per step, or why not."""

    execution: str
    seconds_per_step: Mapping[str, float] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)

    def for_record(self) -> dict[str, object]:
        """What a record's settings say about it."""
        return {"execution": self.execution, "looked_at": {**self.seconds_per_step, **self.absent}}


def earlier_choice(records: list[Record]) -> Choice | None:
    """What the earlier runs of the series used: all runs of a result train in the same way."""
    for record in records:
        if "looked_at" in record.settings:
            found = record.settings["looked_at"]
            return Choice(
                execution=record.settings["execution"],
                seconds_per_step={name: value for name, value in found.items() if not isinstance(value, str)},
                absent={name: value for name, value in found.items() if isinstance(value, str)},
            )
    return None


def probe_request(cell: Cell, programme: Programme, worker: Worker, executions: Sequence[str]) -> ProbeRequest:
    """Try these executions of a cell."""
    return ProbeRequest(
        **request_fields(worker, Setup.of(cell)),
        cell=cell.as_dict(),
        programme=worker.wire(programme),
        executions=tuple(executions),
        seconds=PROBE_S,
    )


def choose(log: EventLog, executions: Sequence[str]) -> Choice:
    """The execution with the shortest step; the first one if none could be tried, so that a run can say why."""
    tried = {event.execution: event for event in log.all(Probe)}
    timed = {name: event.seconds_per_step for name, event in tried.items() if name in executions}
    known = {name: seconds for name, seconds in timed.items() if seconds is not None}
    return Choice(
        execution=min(known, key=known.__getitem__) if known else executions[0],
        seconds_per_step=known,
        absent={name: _why(log, tried.get(name)) for name in executions if name not in known},
    )


def _why(log: EventLog, event: Probe | None) -> str:
    if event is not None:
        return one_line(event.absent)
    reason = "" if log.last is None or isinstance(log.last, Done) else log.last.reason
    return one_line(reason) if reason else "the probe ended before it was tried"
