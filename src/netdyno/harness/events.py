"""What a worker said: its events, read strictly, because a worker may crash, lie or be cut off."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROTOCOL = 1
EVENTS = (
    "hello", "built", "first_step", "warmup", "sample", "launch", "split", "memory", "loss", "proof", "probe",
    "evaluation", "trained", "phases",
)  # fmt: skip
LAST_WORDS = ("done", "unsupported", "out_of_memory", "failed")
MOST_BYTES = 64 * 1024 * 1024  # of events: a worker that writes more is broken

Event = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The events in order, the last word if there was one, and what was wrong with the telling."""

    events: tuple[Event, ...]
    last: Event | None
    complaint: str = ""

    def first(self, name: str) -> Event | None:
        """The first event of that name."""
        return next(iter(self.all(name)), None)

    def all(self, name: str) -> list[Event]:
        """Every event of that name."""
        return [event for event in self.events if event["event"] == name]


def read_story(path: Path) -> Story:
    """The story in an events file; a line cut off at the very end is left out, anything else odd is a complaint."""
    if not path.exists():
        return Story(events=(), last=None)
    if path.stat().st_size > MOST_BYTES:
        return Story(events=(), last=None, complaint=f"it wrote over {MOST_BYTES >> 20} MiB of events")
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    events: list[Event] = []
    for number, line in enumerate(lines[:-1], 1):  # what follows the last line break is not a whole line
        event = _parse(line)
        if event is None:
            return Story(events=tuple(events), last=None, complaint=f"line {number} of its events is not an event")
        events.append(event)
    return _tell(events)


def _parse(line: str) -> Event | None:
    try:
        event = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return None
    known = isinstance(event, dict) and event.get("event") in EVENTS + LAST_WORDS
    return event if known else None


def _tell(events: list[Event]) -> Story:
    spoken = [event for event in events if event["event"] in LAST_WORDS]
    complaint = ""
    if len(spoken) > 1:
        complaint = f"it said {len(spoken)} last words"
    elif spoken and events[-1] is not spoken[0]:
        complaint = f"it went on after its last word '{spoken[0]['event']}'"
    elif foreign := [e.get("protocol") for e in events if e["event"] == "hello" and e.get("protocol") != PROTOCOL]:
        complaint = f"it speaks protocol {foreign[0]!r}, not {PROTOCOL}"
    return Story(events=tuple(events), last=spoken[0] if spoken else None, complaint=complaint)
