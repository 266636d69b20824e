"""Which runs a selector such as `network=lenet,batch=32` or `revision=1a2b3c4` names."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from netdyno.errors import NetdynoError, unknown
from netdyno.results.cell import CHOICES, COUNTS, FIELDS
from netdyno.results.record import Record
from netdyno.results.result import Result, newest_of, results_of

PROVENANCE = ("version", "netdyno", "revision")
SELECTABLE = (*FIELDS, "series", "machine", "id", "outcome", *PROVENANCE)
WHOLE_NUMBERS = (*COUNTS, "series")
READ_FROM_RECORDS = ("options", "version", "revision")  # no column has them as a selector spells them
COLUMNS = {"netdyno": "netdyno_version", "version": "versions", "revision": "environment"}
SHORTEST_REVISION = 4  # as git itself has it
Wanted = Mapping[str, str | int]


def select(results: Iterable[Result], selector: str) -> list[Result]:
    """The results that a selector names.

    Unless it names a series, only the newest of each cell and machine counts. Of a series that was continued with
    other versions, a selector by version takes the runs that have it.
    """
    wanted = parsed(selector)
    chosen = [part for result in results for part in _part(result, wanted)]
    if "series" in wanted:
        return chosen
    newest = newest_of((result.cell, result.machine, result.series, result.records) for result in chosen)
    return [result for result in chosen if result.series == newest[result.cell, result.machine]]


def newest_series(records: Collection[Record]) -> list[Record]:
    """The runs of the newest series of each cell and machine."""
    newest = newest_of((record.cell, record.machine, record.series, [record]) for record in records)
    return [record for record in records if record.series == newest[record.cell, record.machine]]


def columns_of(wanted: Wanted) -> dict[str, str | int]:
    """The part of a selector that a database can answer: columns of runs with their values."""
    return {COLUMNS.get(name, name): value for name, value in wanted.items() if name not in READ_FROM_RECORDS}


def beyond_columns(wanted: Wanted) -> Wanted:
    """The rest, for which each record is read."""
    return {name: value for name, value in wanted.items() if name in READ_FROM_RECORDS}


def fields_of(selector: str) -> frozenset[str]:
    """The fields that a selector names: those in which two sides may differ."""
    return frozenset(parsed(selector))


def parsed(selector: str) -> Wanted:
    """Field by field, checked as far as it can be without any run."""
    wanted: dict[str, str | int] = {}
    for part in selector.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not (name and equals and value):
            message = f"expected a selector like network=lenet,batch=32, received '{selector}'."
            raise NetdynoError(message, hint=f"Fields: {', '.join(SELECTABLE)}.")
        if name not in SELECTABLE:
            raise unknown("field", name, SELECTABLE)
        if name in wanted:
            raise NetdynoError(f"the selector '{selector}' names {name} twice.", hint="Name it once.")
        wanted[name] = _checked(name, value)
    return wanted


def _checked(name: str, value: str) -> str | int:
    if name in CHOICES and value not in CHOICES[name]:
        raise unknown(name, value, CHOICES[name])
    if name == "version" and not re.fullmatch(r"[^:]+:[^:]+", value):
        raise NetdynoError(f"version: expected LIBRARY:VERSION such as numpy:2.1, received '{value}'.")
    if name == "revision" and not re.fullmatch(rf"[0-9a-f]{{{SHORTEST_REVISION},64}}", value):
        raise NetdynoError(f"revision: expected {SHORTEST_REVISION} or more hex digits, received '{value}'.")
    if name not in WHOLE_NUMBERS:
        return value
    if not (value.isascii() and value.isdigit()) or int(value) < 1:
        raise NetdynoError(f"{name}: expected a whole number over 0, received '{value}'.")
    return int(value)


def matches(record: Record, wanted: Wanted) -> bool:
    """Whether a run is as a selector says."""
    return all(_has(_held(record, name), name, value) for name, value in wanted.items())


def nothing_named(selector: str, held: Callable[[str], Iterable[Any]]) -> NetdynoError:
    """Why no run matches: the first field that no run at all has with that value, else that they do not occur
    together. `held` gives the different values of a column of all runs."""
    for name, value in parsed(selector).items():
        known, is_known = set[str](), False
        for one in held(COLUMNS.get(name, name)):
            known.update(text for text in _texts(one, name) if text)
            is_known = is_known or _has(one, name, value)
        if not known:
            return NetdynoError(f"no run has a {name}: received '{selector}'.")
        if not is_known:
            return unknown(name, str(value), known)
    return NetdynoError(f"no run matches '{selector}'.", hint="See what there is: netdyno results")


def _part(result: Result, wanted: Wanted) -> list[Result]:
    """What a selector leaves of a result: all, a part of its runs, or nothing."""
    chosen = [record for record in result.records if matches(record, wanted)]
    return [result] if len(chosen) == len(result.records) else results_of(chosen)


def _held(record: Record, name: str) -> Any:
    """What a record holds in the column of that field."""
    column = COLUMNS.get(name, name)
    if name == "options":
        return record.cell.columns()["options"]
    return getattr(record.cell if column in FIELDS else record, column)


def _has(held: Any, name: str, value: str | int) -> bool:
    if name == "version":
        library, _, version = str(value).partition(":")
        return _starts(_entries(held).get(library, ""), version)
    if name == "revision":
        return str(_entries(held).get("revision", "")).startswith(str(value))
    if name == "options":
        return _options(held) == value
    return bool(held == value)


def _starts(version: str, start: str) -> bool:
    """2.1 is 2.1.3 and 2.1+cpu, but not 2.11."""
    return version.startswith(start) and not version[len(start) : len(start) + 1].isdigit()


def _texts(held: Any, name: str) -> list[str]:
    """How a selector could have named what a column holds."""
    if name == "version":
        return [f"{library}:{version}" for library, version in _entries(held).items()]
    if name == "revision":
        return [str(_entries(held).get("revision", ""))]
    return [_options(held) if name == "options" else str(held)]


def _entries(held: Any) -> Mapping[str, Any]:
    """None of what is no mapping, as in a row that was damaged."""
    return held if isinstance(held, Mapping) else {}


@lru_cache(maxsize=1000)
def _options(text: str) -> str:
    """Options as a selector spells them, `hidden:512`; the column holds JSON."""
    return ",".join(f"{name}:{value}" for name, value in sorted(json.loads(text).items()))
