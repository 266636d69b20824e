"""Which execution is the fastest? A short look at each, in one process, before the first run of a cell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from netdyno.harness.events import Story, read_story
from netdyno.harness.folder import write_json
from netdyno.harness.launch import Command, launch
from netdyno.harness.watch import watch
from netdyno.results.record import Record

LOOK_S = 0.25  # at each execution, once to warm up and once to time


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The execution that a cell's runs use, and what the look at each came to: seconds per step, or why not."""

    execution: str
    seconds_per_step: Mapping[str, float] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)

    def for_record(self) -> dict[str, Any]:
        """What a record's settings say about it."""
        return {"execution": self.execution, "looked_at": {**self.seconds_per_step, **self.absent}}


def earlier_choice(records: list[Record]) -> Choice | None:
    """What the earlier runs of the series used: all runs of a result train in the same way."""
    for record in records:
        if "looked_at" in record.settings:
            looked = record.settings["looked_at"]
            return Choice(
                execution=record.settings["execution"],
                seconds_per_step={name: told for name, told in looked.items() if not isinstance(told, str)},
                absent={name: told for name, told in looked.items() if isinstance(told, str)},
            )
    return None


def look(command: Command, request: Mapping[str, Any], deadline_s: float, on_poll: Callable[[], None]) -> Choice:
    """Ask a worker to try the request's executions, in a folder of its own below the run's."""
    folder = command.folder / "fastest"
    folder.mkdir()
    write_json(folder / "request.json", request)
    watch(launch(replace(command, folder=folder)), deadline_s, on_poll)
    return choose(read_story(folder / "events.jsonl"), request["executions"])


def choose(story: Story, executions: list[str]) -> Choice:
    """The execution with the shortest step; the first one if none could be tried, so that a run can say why."""
    told = {event["execution"]: event for event in story.all("probe")}
    seconds = {
        name: told[name]["seconds_per_step"] for name in executions if "seconds_per_step" in told.get(name, {})
    }
    absent = {name: _why(story, told.get(name)) for name in executions if name not in seconds}
    return Choice(
        execution=min(seconds, key=seconds.__getitem__) if seconds else executions[0],
        seconds_per_step=seconds,
        absent=absent,
    )


def probe_request(request: Mapping[str, Any], executions: list[str]) -> dict[str, Any]:
    """The request of a run, asked as a look at several executions."""
    kept = {name: value for name, value in request.items() if name not in ("settings", "execution")}
    return {**kept, "task": "probe", "executions": executions, "compile": [], "seconds": LOOK_S, "turn": None}


def _why(story: Story, event: Mapping[str, Any] | None) -> str:
    if event is not None:
        return str(event["absent"])
    return str((story.last or {}).get("reason") or "the look ended before it was tried")
