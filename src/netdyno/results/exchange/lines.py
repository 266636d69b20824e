"""Exports as JSON Lines: a header, a line for each record, proof, graph and machine, and a last line with a digest.

`python -m netdyno.results.exchange.lines` writes the two .schema.json files beside this one; a test compares them.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from netdyno.results.exchange.check import PROOF_FLOATS, TYPES, Graph, Part
from netdyno.results.exchange.selection import Seen, Selection
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.store.rows import FLOATS, named_floats
from netdyno.results.values import IN_JSON
from netdyno.version import __version__

FORMAT = "netdyno-results"
SCHEMA_VERSION = 2  # goes up with every field that is added, removed or changes its meaning
KIND, END = "kind", "end"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
DIGEST = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}


def write_lines(selection: Selection, file: BinaryIO) -> int:
    """How many records were written; no more than one is in memory at a time."""
    out, seen, machines, count = _Writer(file), Seen(), dict[str, dict[str, Any]](), 0
    for record in selection.records():
        seen.add(record)
        _count(machines, record)
        out.part("record", record)
        count += 1
    for proof in selection.proofs(seen):
        out.part("proof", proof)
    for digest, wire in selection.graphs(seen):
        out.part("graph", Graph(digest=digest, wire=wire))
    for machine in machines.values():
        out.part("machine", machine)
    out.end()
    return count


def plain_of(part: Part) -> dict[str, Any]:
    """A part as JSON has it: field by field, options as a mapping, NaN and the infinities by name."""
    plain: dict[str, Any] = msgspec.to_builtins(part)
    if isinstance(part, Proof):
        plain |= named_floats({name: plain[name] for name in PROOF_FLOATS})
    if isinstance(part, Record):
        plain |= named_floats({name: plain[name] for name in FLOATS})
        plain["cell"]["options"] = dict(part.cell.options)
        plain["curve"] = [named_floats(point) for point in plain["curve"]]
    return plain


def text_of(part: Part) -> bytes:
    """What `plain_of` gives, encoded; of a record without a copy of everything in it."""
    if not isinstance(part, Record):
        return encoded(plain_of(part))
    own = {name: getattr(part, name) for name in part.__struct_fields__}
    own |= named_floats({name: own[name] for name in FLOATS})
    own |= {"cell": part.cell.as_dict(), "curve": [named_floats(msgspec.to_builtins(point)) for point in part.curve]}
    try:
        return msgspec.json.encode(own)
    except OverflowError:
        return encoded(plain_of(part))


def encoded(plain: Any) -> bytes:
    """Compact JSON; the same for the same content."""
    try:
        return msgspec.json.encode(plain)
    except OverflowError:  # an integer of more than 64 bits
        return json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode()


def schema_text(name: str) -> str:
    """The JSON Schema file of that name."""
    title, schema = _SCHEMAS[name]()
    schema = _as_written(schema)
    return (
        json.dumps({"$schema": DRAFT, "title": f"{title} (schema_version {SCHEMA_VERSION})", **schema}, indent=1)
        + "\n"
    )


def _as_written(schema: Any) -> Any:
    """A schema as records are written: where JSON has another form than the type, that form."""
    if isinstance(schema, dict):
        return schema.get(IN_JSON) or {name: _as_written(part) for name, part in schema.items()}
    return [_as_written(part) for part in schema] if isinstance(schema, list) else schema


class _Writer:
    """Writes line by line, and knows the digest of what it wrote."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        header = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "netdyno_version": __version__}
        self._file.write(encoded(header) + b"\n")

    def part(self, kind: str, part: Part | Mapping[str, Any]) -> None:
        text = encoded(part) if isinstance(part, Mapping) else text_of(part)
        self._digest.update(text)
        self._file.write(b'{"%s":"%s",%s\n' % (KIND.encode(), kind.encode(), text[1:]))

    def end(self) -> None:
        self._file.write(encoded({KIND: END, "digest": f"sha256:{self._digest.hexdigest()}"}) + b"\n")


def _count(machines: dict[str, dict[str, Any]], record: Record) -> None:
    """The machine's records, and its environment at the newest of them."""
    machine = machines.setdefault(record.machine, {"name": record.machine, "records": 0, "last_run_at": ""})
    machine["records"] += 1
    if record.started_at >= machine["last_run_at"]:
        machine |= {"last_run_at": record.started_at, "environment": dict(record.environment)}


def _record_schema() -> tuple[str, dict[str, Any]]:
    return "One run of one cell", msgspec.json.schema(Record)


def _line_schema() -> tuple[str, dict[str, Any]]:
    """A line: a header, an end, or a part with its kind."""
    (*refs,), definitions = msgspec.json.schema_components(TYPES.values())
    for kind, ref in zip(TYPES, refs, strict=True):
        found = definitions[ref["$ref"].rpartition("/")[2]]
        found["properties"] = {KIND: {"const": kind}, **found["properties"]}
        found["required"] = [KIND, *found.get("required", ())]
    header = {
        "format": {"const": FORMAT},
        "schema_version": {"const": SCHEMA_VERSION},
        "netdyno_version": {"type": "string"},
    }
    end = {KIND: {"const": END}, "digest": DIGEST}
    return "A line of what netdyno results export --format json writes", {
        "anyOf": [
            {"type": "object", "properties": header, "required": ["format", "schema_version"]},
            *refs,
            {"type": "object", "properties": end, "required": [KIND]},
        ],
        "$defs": definitions,
    }


_SCHEMAS = {"record.schema.json": _record_schema, "export.schema.json": _line_schema}

if __name__ == "__main__":
    for name in _SCHEMAS:
        Path(__file__).with_name(name).write_text(schema_text(name))
