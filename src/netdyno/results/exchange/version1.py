"""How the parts of an export of schema_version 1 become parts of today: records get figures, courses become runs."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from netdyno.results.cell import FIELDS
from netdyno.results.exchange.check import Part, Unexpected, checked, convert
from netdyno.results.figure import Figure
from netdyno.results.record import MEASURED, OUTCOMES, Environment, Evaluation, Named, Record, Settings
from netdyno.results.store import version1
from netdyno.results.store.rows import unnamed_floats
from netdyno.results.values import AnyNumber, Id, Moment, Name, Whole, Words, one_of

LISTS = {"records": "record", "proofs": "proof", "courses": "course", "machines": "machine"}


class _Course(Struct, kw_only=True, forbid_unknown_fields=True):
    """A training to a goal, as it was exported."""

    id: Id
    cell: dict[str, Any]
    machine: Name
    goal: Name
    source: Name
    seed: Whole
    outcome: Annotated[str, one_of(version1.TRAINED, *OUTCOMES)]
    started_at: Moment
    ended_at: Moment
    reason: Words = ""
    curve: Annotated[tuple[Evaluation, ...], Meta(max_length=100_000)] = ()
    steps: Whole = 0
    train_s: AnyNumber | None = None
    wall_s: AnyNumber | None = None
    readings: Annotated[Mapping[Name, AnyNumber], Meta(max_length=1000)] = msgspec.field(default_factory=dict)
    absent: Annotated[Mapping[Name, Words], Meta(max_length=1000)] = msgspec.field(default_factory=dict)
    versions: Named = msgspec.field(default_factory=dict)
    settings: Settings = msgspec.field(default_factory=dict)
    environment: Environment = msgspec.field(default_factory=dict)
    graph_digest: Name = ""
    worker_hash: Name = ""
    netdyno_version: Name = ""


class Courses:
    """Collects the courses of a file: which series each belongs to is known when all are there."""

    def __init__(self) -> None:
        self._records: list[tuple[str, Record]] = []
        self._courses: list[Mapping[str, Any]] = []

    def add(self, place: str, plain: Any) -> None:
        """Check a course and keep it."""
        data = plain
        if isinstance(plain, dict):
            data = unnamed_floats(plain)
            if isinstance(plain.get("readings"), dict):
                data["readings"] = unnamed_floats(plain["readings"])
            if isinstance(plain.get("curve"), list):
                data["curve"] = [unnamed_floats(p) if isinstance(p, dict) else p for p in plain["curve"]]
        course: dict[str, Any] = msgspec.to_builtins(convert(data, _Course))
        cell = _cell(course["cell"])
        for name in ("network", "dataset"):
            if not isinstance(cell.get(name), str):
                raise Unexpected(f"cell.{name}", "a text", cell.get(name))
        run = version1.learn_run({**cell, **course})
        record = checked("record", run | {"cell": {**cell, **run["cell"]}, "series": 1})
        assert isinstance(record, Record)
        self._records.append((place, record))
        self._courses.append({**record.cell.as_dict(), **course})

    def records(self) -> list[tuple[str, Record]]:
        """All of them as runs, each in its series."""
        series = version1.series_of(self._courses)
        return [(place, replace(record, series=series[record.id])) for place, record in self._records]


def converted(kind: str, plain: Any) -> Part:
    """A record, proof or machine."""
    if kind != "record" or not isinstance(plain, dict) or not isinstance(plain.get("cell"), dict):
        return checked(kind, plain)
    renamed = {
        name: version1.renamed(plain[name]) for name in ("readings", "absent") if isinstance(plain.get(name), dict)
    }
    record = checked(kind, {**plain, **renamed, "cell": _cell(plain["cell"])})
    assert isinstance(record, Record)
    old = {**record.cell.as_dict(), **{name: getattr(record, name) for name in version1.RECORD_FIELDS}}
    steps = [sample.seconds_per_step for sample in record.samples]
    is_measured = record.outcome == MEASURED and bool(steps)
    found = version1.train_figures(old, steps) if is_measured else {}
    figures = {name: Figure(**figure) for name, figure in found.items()}
    return replace(record, figures=figures, headline=version1.HEADLINE, absent=version1.train_absent(old))


def _cell(old: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an old cell by today's names; those that are wrong stay, to be refused."""
    same = {name: value for name, value in old.items() if (name, value) != ("parallelism", "none")}
    known = all(isinstance(same.get(name), str) for name in ("network", "dataset"))
    return same | version1.cell_of(same) if known and not same.keys() - set(FIELDS) else same
