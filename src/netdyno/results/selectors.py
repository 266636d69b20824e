"""Which runs a selector such as `network=lenet,batch=32` or `revision=1a2b3c4` names."""

import re
from collections.abc import Collection, Iterable, Mapping

from netdyno.errors import NetdynoError, unknown
from netdyno.results.cell import CHOICES, COUNTS, FIELDS
from netdyno.results.record import Record
from netdyno.results.result import Result, newest_of, results_of

PROVENANCE = ("version", "netdyno", "revision")
SELECTABLE = (*FIELDS, "series", "machine", *PROVENANCE)
WHOLE_NUMBERS = (*COUNTS, "series")
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


def select_records(records: Collection[Record], selector: str) -> list[Record]:
    """The runs that a selector names, likewise."""
    chosen = matching(records, selector)
    return chosen if "series" in parsed(selector) else newest_series(chosen)


def matching(records: Collection[Record], selector: str) -> list[Record]:
    """The runs that a selector names, of every series; for a name that no run has, the error names the nearest."""
    wanted = parsed(selector)
    chosen = [record for record in records if _matches(record, wanted)]
    if not chosen:
        raise _nothing(records, selector, wanted)
    return chosen


def newest_series(records: Collection[Record]) -> list[Record]:
    """The runs of the newest series of each cell and machine."""
    newest = newest_of((record.cell, record.machine, record.series, [record]) for record in records)
    return [record for record in records if record.series == newest[record.cell, record.machine]]


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


def _part(result: Result, wanted: Wanted) -> list[Result]:
    """What a selector leaves of a result: all, a part of its runs, or nothing."""
    chosen = [record for record in result.records if _matches(record, wanted)]
    return [result] if len(chosen) == len(result.records) else results_of(chosen)


def _matches(record: Record, wanted: Wanted) -> bool:
    return all(_has(record, name, value) for name, value in wanted.items())


def _has(record: Record, name: str, value: str | int) -> bool:
    if name == "version":
        library, _, version = str(value).partition(":")
        return _starts(record.versions.get(library, ""), version)
    if name == "netdyno":
        return record.netdyno_version == value
    if name == "revision":
        return str(record.environment.get("revision", "")).startswith(str(value))
    return bool(_field(record, name) == value)


def _starts(version: str, start: str) -> bool:
    """2.1 is 2.1.3 and 2.1+cpu, but not 2.11."""
    return version.startswith(start) and not version[len(start) : len(start) + 1].isdigit()


def _nothing(records: Collection[Record], selector: str, wanted: Wanted) -> NetdynoError:
    """The first field that no run at all has with that value, else that they do not occur together."""
    for name, value in wanted.items():
        known = sorted({text for record in records for text in _values(record, name) if text})
        if known and not any(_has(record, name, value) for record in records):
            return unknown(name, str(value), known)
        if not known:
            return NetdynoError(f"no run has a {name}: received '{selector}'.")
    return NetdynoError(f"no run matches '{selector}'.", hint="See what there is: netdyno results")


def _values(record: Record, name: str) -> list[str]:
    """What a selector could have said of the run."""
    if name == "version":
        return [f"{library}:{version}" for library, version in record.versions.items()]
    if name == "netdyno":
        return [record.netdyno_version]
    if name == "revision":
        return [str(record.environment.get("revision", ""))]
    return [str(_field(record, name))]


def _field(record: Record, name: str) -> str | int:
    """Of the run or its cell; options as `hidden:512`."""
    if name == "options":
        return record.cell.options_text()
    value: str | int = getattr(record if name in ("series", "machine") else record.cell, name)
    return value
