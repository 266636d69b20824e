"""Values as short and safe JSON inside a page."""

import json
from collections.abc import Sequence
from datetime import datetime
from math import isfinite
from typing import TypeVar

DIGITS = 5  # of a reading: more than a measurement has
LARGE = 1e4
WHOLE = 1e15  # up to here a whole number is written as one
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}

Item = TypeVar("Item")


def compact(value: object, digits: int = DIGITS) -> float | int | None:
    """A number with few digits, a large one as an integer; None for anything but a finite number."""
    if not isinstance(value, float | int) or not isfinite(value):
        return None
    if LARGE <= abs(value) < WHOLE:
        return round(value)
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < WHOLE else short


def evenly(values: Sequence[Item], most: int) -> list[Item]:
    """At most `most` of them: the first, the last, and the others at even distances between."""
    if len(values) <= most:
        return list(values)
    if most < 2:
        return list(values[:most])
    step = (len(values) - 1) / (most - 1)
    return [values[round(place * step)] for place in range(most)]


def epoch_s(moment: str) -> int | None:
    """Seconds since 1970 of an ISO 8601 time; None for something else, as an imported record may hold."""
    try:
        return round(datetime.fromisoformat(moment).timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def script_safe(value: object) -> str:
    """Strict JSON for a script element: without `<`, `>`, `&` and the line ends of JavaScript."""
    text = dumped(value)
    for character, escape in UNSAFE.items():
        text = text.replace(character, escape)
    return text


def dumped(value: object) -> str:
    """JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
