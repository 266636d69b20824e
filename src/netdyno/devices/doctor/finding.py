"""What the doctor says about one thing it looked at."""

from dataclasses import dataclass
from typing import Literal

GIB = 2**30
State = Literal["good", "weak", "bad", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at; `hint` says what to do about it, or why it is unknown."""

    what: str
    state: State
    seen: str
    hint: str = ""


def unknown(what: str, reason: str) -> Finding:
    """A finding about something that cannot be read."""
    return Finding(what=what, state="unknown", seen="not known", hint=reason[0].upper() + reason[1:] + ".")
