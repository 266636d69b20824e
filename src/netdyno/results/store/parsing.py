"""How the JSON in many rows is read: as text from the database, then parsed one row at a time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import JSON, Column, ColumnElement, Text, cast

from netdyno.results.store.rows import read_json

COMMON = ("flags", "absent", "versions", "settings", "cost", "basis")  # what many runs have in common
LONGEST_SHARED = 2000  # characters of it that are kept for the next run

Parser = Callable[[str], Any]


def as_text(column: Column[Any]) -> ColumnElement[Any]:
    """The column to select: JSON unread."""
    return cast(column, Text).label(column.name) if isinstance(column.type, JSON) else column


def parsers_of(columns: Iterable[Column[Any]]) -> dict[str, Parser | None]:
    """By column how its text is read, None where it is no JSON. What many runs have in common is read once for all of
    them: nobody may change it."""
    return {
        column.name: (_parse_shared if column.name in COMMON else read_json)
        if isinstance(column.type, JSON)
        else None
        for column in columns
    }


def parsed(parsers: Mapping[str, Parser | None], row: Sequence[Any]) -> dict[str, Any]:
    """A row whose JSON was selected as text."""
    return {
        name: value if parse is None or value is None else parse(value)
        for (name, parse), value in zip(parsers.items(), row, strict=True)
    }


def keys_of(text: str) -> Iterable[str]:
    """The names in a JSON object; none of anything else."""
    try:
        return _UNREAD.decode(text)
    except msgspec.MsgspecError:
        return ()


def _parse_shared(text: str) -> Any:
    return _parse_once(text) if len(text) <= LONGEST_SHARED else read_json(text)


_parse_once = lru_cache(maxsize=1000)(read_json)
_UNREAD = msgspec.json.Decoder(dict[str, msgspec.Raw])
