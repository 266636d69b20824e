"""Records, proofs and courses as one JSON object, an element a line: what another store can import."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

import netdyno
from netdyno.results.plain import course_to_plain, proof_to_plain, record_to_plain
from netdyno.results.record import Record
from netdyno.results.schema import FORMAT, SCHEMA_VERSION
from netdyno.results.selection import CellsSeen, Selection


def write_json(selection: Selection, file: BinaryIO) -> int:
    """How many records and courses were written; no more than one is in memory at a time."""
    out = _Writer(file)
    seen, machines = CellsSeen(), dict[str, dict[str, Any]]()
    out.start({"format": FORMAT, "schema_version": SCHEMA_VERSION, "netdyno_version": netdyno.__version__})

    def records() -> Iterable[Mapping[str, Any]]:
        for record in selection.records():
            seen.add(record.cell, record.machine)
            _count(machines, record)
            yield record_to_plain(record)

    count = out.list("records", records())
    courses = selection.courses()
    for course in courses:
        seen.add(course.cell, course.machine)
    out.list("proofs", map(proof_to_plain, selection.proofs(seen)))
    count += out.list("courses", map(course_to_plain, courses))
    out.end(machines.values())
    return count


class _Writer:
    """Writes the object line by line, and knows the digest of what it wrote."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()

    def start(self, head: Mapping[str, Any]) -> None:
        self._file.write(b"{" + b",\n".join(_field(name, value) for name, value in head.items()))

    def list(self, name: str, elements: Iterable[Mapping[str, Any]]) -> int:
        self._file.write(b",\n" + _compact(name) + b": [")
        count = 0
        for count, element in enumerate(elements, 1):
            text = _compact(element)
            self._digest.update(text)
            self._file.write((b",\n" if count > 1 else b"\n") + text)
        self._file.write(b"\n]" if count else b"]")
        return count

    def end(self, machines: Iterable[Mapping[str, Any]]) -> None:
        lines = b",\n".join(map(_compact, machines))
        self._file.write(b",\n" + _compact("machines") + b": [\n" + lines + b"\n],\n")
        self._file.write(_field("digest", f"sha256:{self._digest.hexdigest()}") + b"}\n")


def _count(machines: dict[str, dict[str, Any]], record: Record) -> None:
    """The machine's records, and what it was at the newest of them."""
    told = machines.setdefault(record.machine, {"name": record.machine, "records": 0, "last_run_at": ""})
    told["records"] += 1
    if record.started_at >= told["last_run_at"]:
        told |= {"last_run_at": record.started_at, "environment": dict(record.environment)}


def _field(name: str, value: Any) -> bytes:
    return _compact(name) + b": " + _compact(value)


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
