"""What a store keeps and gives back: values of their types, within the limits that an import has.

So whatever a store took can be exported and imported.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from netdyno.errors import NetdynoError
from netdyno.results.pictures import Pictures
from netdyno.results.record import Record
from netdyno.results.values import CONTROLS, Name, Number
from netdyno.text import shortened

DEEPEST = 16  # levels of a machine's description, or of an adapter's settings
LONGEST_NAME, LONGEST_PHRASE, LONGEST_WORDS = 1000, 10_000, 100_000
WORDS = ("reason", "flags", "absent", "worst_node")  # output of programs
PHRASES = ("environment", "settings")  # descriptions by a machine and an adapter
PIXELS = "pictures"  # base64 of bounded length
DAMAGED = "Restore a copy, or start a new file; run folders hold what was measured."

T = TypeVar("T", bound=Struct)


class Gpu(Struct):
    """What netdyno itself reads of a GPU's description."""

    name: Name = ""


class KnownEnvironment(Struct):
    """What netdyno itself reads of an environment; the rest may be anything."""

    cpu: Name = ""
    gpus: list[Gpu] = msgspec.field(default_factory=list)
    usable_cores: Annotated[float, Meta(ge=0)] | None = None
    physical_cores: Annotated[float, Meta(ge=0)] | None = None


class KnownSettings(Struct):
    """Likewise of an adapter's settings."""

    execution: Name = ""
    looked_at: Mapping[Name, Number] = msgspec.field(default_factory=dict)


def storable(value: T, what: str) -> T:
    """A record or proof as it may be kept: texts without control characters and of bounded length."""
    try:
        told = msgspec.to_builtins(value)
        plain = {name: part if name == PIXELS else _cleaned(part, name) for name, part in told.items()}
        if isinstance(value, Record):
            check_known(plain)
        return msgspec.convert(plain, type(value))
    except (msgspec.ValidationError, TypeError) as error:
        raise NetdynoError(f"{what} cannot be kept: {error}.") from None


def check_known(record: Mapping[str, Any]) -> None:
    """Raise msgspec's error where what netdyno itself reads of a machine or an adapter is not of its type."""
    for name, known in _KNOWN.items():
        msgspec.convert(record[name], known)


def sound_trace(trace: Any) -> Mapping[str, list[tuple[float, float]]]:
    """What was read over time, if it is that; else nothing."""
    try:
        return msgspec.convert(trace, dict[str, list[tuple[float, float]]])
    except msgspec.ValidationError:
        return {}


def sound_pictures(pictures: Any) -> Pictures | None:
    """What a network drew, if it is that; else nothing."""
    try:
        return msgspec.convert(pictures, Pictures | None)
    except (msgspec.ValidationError, NetdynoError):
        return None


def place_of(error: Exception) -> str:
    """What is wrong, in a few words: msgspec's messages end with the place, and may repeat a long pattern."""
    problem, _, place = str(error).partition(" - at `$.")
    return place.rstrip("`") or shortened(problem) or type(error).__name__


def _cleaned(value: Any, field: str, deepest: int = DEEPEST) -> Any:
    if isinstance(value, str):
        if field in WORDS:
            return _COMMANDS.sub("�", _encodable(value))[:LONGEST_WORDS]
        return _CONTROLS.sub("�", _encodable(value))[: LONGEST_PHRASE if field in PHRASES else LONGEST_NAME]
    if isinstance(value, dict | list | tuple) and not deepest:
        return "…"
    if isinstance(value, dict):
        return {_cleaned(k, "", deepest): _cleaned(part, field, deepest - 1) for k, part in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(part, field, deepest - 1) for part in value]
    return value


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


_CONTROLS = re.compile(f"[{CONTROLS}]")
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a line break and a tab are harmless
_KNOWN: Mapping[str, type[Struct]] = {"settings": KnownSettings, "environment": KnownEnvironment}
