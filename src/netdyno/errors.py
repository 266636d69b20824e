"""What is said to a user who can act on it: what was expected, what was received, one hint."""

import difflib
from collections.abc import Iterable

from netdyno.text import one_line, shortened

LONGEST = 600  # characters of a message, and of a hint
LONGEST_NAME = 100  # that is compared with the known ones


class NetdynoError(Exception):
    """A user's mistake or a machine's refusal, in one line; the command ends with exit code 2."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(shortened(one_line(message), LONGEST))
        self.hint = shortened(one_line(hint), LONGEST)

    def __str__(self) -> str:
        return f"{self.args[0]} {self.hint}".strip()


def unknown(kind: str, name: str, known: Iterable[str]) -> NetdynoError:
    """The error for a name that is not among the known ones, with the nearest of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name[:LONGEST_NAME].lower(), names, n=1, cutoff=0.5)
    hint = f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(names)}."
    return NetdynoError(f"no {kind} named '{shortened(name)}' among the {len(names)} known.", hint=hint)
