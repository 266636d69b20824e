"""What is said to a user who can act on it: what was expected, what was received, one hint."""

import difflib
from collections.abc import Iterable


class NetdynoError(Exception):
    """A user's mistake or a machine's refusal, in one line; the command ends with exit code 2."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(" ".join(message.split()))
        self.hint = " ".join(hint.split())

    def __str__(self) -> str:
        return f"{self.args[0]} {self.hint}".strip()


def unknown(kind: str, name: str, known: Iterable[str]) -> NetdynoError:
    """The error for a name that is not among the known ones, with the nearest of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    hint = f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(names)}."
    return NetdynoError(f"no {kind} named '{name}' among the {len(names)} known.", hint=hint)
