"""What a rank reported: its events file, read strictly, because a worker may crash, lie or be cut off."""

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, get_args

import msgspec

from netdyno.protocol.events import AnyEvent, Event, Hello, LastWord
from netdyno.protocol.fields import PROTOCOL

EVENTS = "events.jsonl"  # in a rank's folder
MOST_BYTES = 64 * 1024 * 1024  # of events: a worker that writes more is broken
MOST_EVENTS = 100_000  # likewise; a record holds no more samples
LONGEST_LINE = 256 * 1024  # of a last word: its reason and its traceback are shorter
LAST_WORDS = get_args(LastWord)
_DECODER = msgspec.json.Decoder(AnyEvent)
_FIELD = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)

Kind = TypeVar("Kind", bound=Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLog:
    """The events in order, the last word if there is one, and what is wrong with them."""

    events: tuple[AnyEvent, ...] = ()
    last: LastWord | None = None
    complaint: str = ""

    def first(self, kind: type[Kind]) -> Kind | None:
        """The first event of that kind."""
        return next((event for event in self.events if isinstance(event, kind)), None)

    def all(self, kind: type[Kind]) -> list[Kind]:
        """Every event of that kind."""
        return [event for event in self.events if isinstance(event, kind)]


def read_events(path: Path) -> EventLog:
    """The log in a file. A line that is cut off at the very end is left out; anything else odd is a complaint."""
    try:
        data = read_bounded(path, MOST_BYTES)
    except FileNotFoundError:
        return EventLog()
    except OSError as error:
        return EventLog(complaint=f"its events cannot be read: {error.strerror or error}")
    if data is None:
        return EventLog(complaint=f"it wrote over {MOST_BYTES >> 20} MiB of events")
    return parse_events(data)


def parse_events(data: bytes) -> EventLog:
    """The log in the bytes of an events file."""
    events: list[AnyEvent] = []
    lines = data.split(b"\n")[:-1]  # what follows the last line break is not a whole line
    if len(lines) > MOST_EVENTS:
        return EventLog(complaint=f"it wrote over {MOST_EVENTS:,} events")
    for number, line in enumerate(lines, 1):
        try:
            events.append(_DECODER.decode(line))
        except (msgspec.DecodeError, RecursionError) as error:
            return EventLog(events=tuple(events), complaint=_complaint(number, error))
    return _checked(events)


def read_last_word(path: Path) -> LastWord | None:
    """The last word at the end of a file that may still be written; None where its last line is something else."""
    try:
        data = read_bounded(path, MOST_BYTES, last=LONGEST_LINE) or b""
        event = _DECODER.decode(data.rstrip(b"\n").rpartition(b"\n")[2])
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
    return event if isinstance(event, LAST_WORDS) else None


def read_bounded(path: Path, most_bytes: int, last: int = 0) -> bytes | None:
    """The bytes of a regular file, or its `last` ones; None if it has more than so many. A FIFO or a device is never
    waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"expected a regular file, received something else as '{path.name}'")
        if last:
            file.seek(max(0, os.fstat(descriptor).st_size - last))
        data = file.read(most_bytes + 1)
    return data if len(data) <= most_bytes else None


def _complaint(number: int, error: Exception) -> str:
    if not isinstance(error, msgspec.ValidationError):
        return f"line {number} of its events is not an event"
    found = _FIELD.fullmatch(str(error))
    what, field = (found[1], f", field '{found[2][:100]}'") if found else (str(error), "")
    return f"line {number} of its events{field}: {what[:1].lower()}{what[1:200]}"


def _checked(events: list[AnyEvent]) -> EventLog:
    spoken = [event for event in events if isinstance(event, LAST_WORDS)]
    foreign = [e.protocol for e in events if isinstance(e, Hello) and e.protocol != PROTOCOL]
    complaint = ""
    if len(spoken) > 1:
        complaint = f"it said {len(spoken)} last words"
    elif spoken and events[-1] is not spoken[0]:
        complaint = f"it went on after its last word '{spoken[0].__struct_config__.tag}'"
    elif foreign:
        complaint = f"it speaks protocol {foreign[0]!r}, not {PROTOCOL}"
    return EventLog(events=tuple(events), last=spoken[0] if spoken else None, complaint=complaint)
