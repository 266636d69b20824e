"""What a value of an export may look like: said once, checked by our own code and told as JSON Schema."""

import re
import reprlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

NOT_FINITE = ("NaN", "Infinity", "-Infinity")  # JSON has no such numbers, so these are texts there
WIDEST = 1e100  # sums and products of such numbers are finite still
LARGEST_FLOAT = 1.7976931348623157e308
LARGEST_WHOLE = 2**31 - 1  # that every database keeps in a column
CONTROLS = "\x00-\x1f\x7f-\x9f"
NO_CONTROLS = f"^[^{CONTROLS}]*$"
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$"

_CONTROL = re.compile(f"[{CONTROLS}\ud800-\udfff]")
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 60


class Unexpected(Exception):
    """A value that is not as it should be; `where` is its place below the value that was checked."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"expected {expected}, received {_shown(value)}")
        self._path: list[str | int] = []

    def under(self, part: str | int) -> "Unexpected":
        """The same, seen from one level higher."""
        self._path.insert(0, part)
        return self

    @property
    def where(self) -> str:
        """Such as `samples[3].seconds`."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self._path)
        return "".join(c if c.isprintable() else "�" for c in "".join(parts).removeprefix("."))


class Shape(Protocol):
    """One kind of value."""

    def check(self, value: Any) -> None:
        """Raise Unexpected for a value of another kind."""

    def schema(self) -> dict[str, Any]:
        """The same in the words of JSON Schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A name or a phrase: nothing in it that would move a terminal's cursor or that no database stores."""

    longest: int = 1000
    pattern: str = NO_CONTROLS
    told: str = "a text without control characters"

    def check(self, value: Any) -> None:
        # Most texts are printable, which is quickly told.
        if not isinstance(value, str) or (not value.isprintable() and _CONTROL.search(value)):
            raise Unexpected(self.told, value)
        if self.pattern is not NO_CONTROLS and not re.match(self.pattern, value):
            raise Unexpected(self.told, value)
        if len(value) > self.longest:
            raise Unexpected(f"at most {self.longest:,} characters", value)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": self.longest, "pattern": self.pattern}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What some program said: any characters at all. Those that cannot be shown are replaced when it is read."""

    longest: int = 100_000

    def check(self, value: Any) -> None:
        if not isinstance(value, str) or len(value) > self.longest:
            raise Unexpected(f"a text of at most {self.longest:,} characters", value)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": self.longest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of a few texts."""

    options: tuple[str, ...]

    def check(self, value: Any) -> None:
        if not isinstance(value, str) or value not in self.options:
            raise Unexpected(f"one of {', '.join(self.options)}", value)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """A moment, with its distance from UTC."""

    def check(self, value: Any) -> None:
        if not isinstance(value, str) or not re.match(TIME, value) or not _is_moment(value):
            raise Unexpected("a time such as 2026-11-15T10:00:00+00:00", value)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "date-time", "pattern": TIME}


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number; `true` is none."""

    least: int = 0
    most: int = LARGEST_WHOLE

    def check(self, value: Any) -> None:
        if type(value) is not int or not self.least <= value <= self.most:
            raise Unexpected(f"a whole number from {self.least} to {self.most:,}", value)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """Any number in a range; with `or_not_finite` also the texts that stand for NaN and the infinities."""

    least: float = -WIDEST
    most: float = WIDEST
    or_not_finite: bool = False

    def check(self, value: Any) -> None:
        if self.or_not_finite and value in NOT_FINITE:
            return
        if type(value) not in (int, float) or not self.least <= value <= self.most:
            raise Unexpected(f"a number{self._range()}", value)

    def schema(self) -> dict[str, Any]:
        number = {"type": "number", "minimum": self.least, "maximum": self.most}
        return {"anyOf": [number, {"enum": list(NOT_FINITE)}]} if self.or_not_finite else number

    def _range(self) -> str:
        return "" if self.most >= WIDEST else f" from {self.least:g} to {self.most:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """True or false."""

    def check(self, value: Any) -> None:
        if type(value) is not bool:
            raise Unexpected("true or false", value)

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value, or null where it is not known."""

    shape: Shape

    def check(self, value: Any) -> None:
        if value is not None:
            self.shape.check(value)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.shape.schema(), {"type": "null"}]}


NAME = Text()
PHRASE = Text(longest=10_000)
ANY_NUMBER = Number(least=-LARGEST_FLOAT, most=LARGEST_FLOAT, or_not_finite=True)
SECONDS = Number(least=1e-9, most=1e9)


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def _shown(value: object) -> str:
    """A value in a few words, whatever it holds."""
    return _SHOWN.repr(value)
