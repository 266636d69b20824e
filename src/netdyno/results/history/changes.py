"""What was recorded differently of two results of a cell: versions, settings, the machine, the worker."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from netdyno.results.record import Record
from netdyno.results.result import Result

PLAIN = ("netdyno_version", "worker_hash", "graph_digest", "weights_digest")
# They differ from run to run and cause nothing: the first is only a symptom, the second a measurement.
PASSING = ("environment.load", "settings.looked_at")
UNSAID = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A field such as `versions.numpy` or `environment.gpus[0].driver`, exactly as recorded before and after."""

    field: str
    before: str
    after: str


def changes(before: Result, after: Result) -> tuple[Change, ...]:
    """Every recorded field that differs; values that differ within a series stand side by side."""
    return differences(recorded(before), recorded(after))


def differences(olds: Mapping[str, str], news: Mapping[str, str]) -> tuple[Change, ...]:
    """The same of what was `recorded`."""
    names = dict.fromkeys((*olds, *news))
    return tuple(
        Change(field=name, before=olds.get(name, UNSAID), after=news.get(name, UNSAID))
        for name in names
        if olds.get(name, UNSAID) != news.get(name, UNSAID)
    )


def recorded(result: Result) -> dict[str, str]:
    """All fields of the runs that were measured."""
    found: dict[str, dict[str, None]] = {}
    for record in result.measured:
        for name, value in _fields(record):
            found.setdefault(name, {})[value] = None
    return {name: " / ".join(values) for name, values in found.items() if list(values) != [""]}


def _fields(record: Record) -> Iterator[tuple[str, str]]:
    for name in ("versions", "environment", "settings"):
        yield from ((field, value) for field, value in _flat(name, getattr(record, name)) if not _passes(field))
    for name in PLAIN:
        yield name, getattr(record, name)
    yield "flags", ", ".join(sorted({flag.partition(" (")[0] for flag in record.flags}))


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Nested mappings and lists as one field for each leaf."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from _flat(f"{name}[{place}]", inner)
    else:
        yield name, "" if value is None else str(value)


def _passes(field: str) -> bool:
    return any(field == name or field.startswith((f"{name}.", f"{name}[")) for name in PASSING)
