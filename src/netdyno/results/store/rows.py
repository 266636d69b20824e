"""How a record becomes a row of the database, and comes back the same."""

import json
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

import msgspec
from msgspec.structs import fields

from netdyno.errors import NetdynoError
from netdyno.results.cell import FIELDS, Cell
from netdyno.results.limit import Limit
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.store.sound import check_known, place_of, storable
from netdyno.text import shown

SAMPLES = ("samples", "warmup")
MAPPINGS = ("readings", "absent", "trace", "versions", "settings", "environment", "cost", "basis")
JSON_FIELDS = (*SAMPLES, "figures", "curve", "pictures", "flags", *MAPPINGS)
FLOATS = ("build_s", "first_step_s", "loss_first", "loss_last")
PLAIN = tuple(field.name for field in fields(Record) if field.name not in ("cell", *JSON_FIELDS))
PROOF_TEXTS = ("graph_digest", "graph_identity")  # NULL in proofs of before they were kept


def to_row(record: Record) -> dict[str, Any]:
    """Column by column. Characters no database stores, as a worker's last words may hold, become � or ?."""
    row = row_of_checked(storable(record, f"record {record.id}"))
    return row | {name: _as_json(record, name, row[name]) for name in JSON_FIELDS}


def row_of_checked(record: Record) -> dict[str, Any]:
    """The same for a record that was made of JSON: it holds nothing that JSON cannot."""
    row: dict[str, Any] = dict(_cell_columns(record.cell))
    row |= {name: _storable(getattr(record, name)) for name in PLAIN}
    # SQLite forgets the sign of a zero, so it is dropped at once: + 0.0 makes of -0.0 a plain 0.0.
    row |= {name: None if row[name] is None else float(row[name]) + 0.0 for name in FLOATS}
    row |= {name: [[one.steps, float(one.seconds)] for one in getattr(record, name)] for name in SAMPLES}
    row["figures"] = {name: msgspec.to_builtins(figure) for name, figure in record.figures.items()}
    row["curve"] = [named_floats(msgspec.to_builtins(point)) for point in record.curve]
    row |= {"pictures": msgspec.to_builtins(record.pictures), "flags": list(record.flags)}
    return row | {name: dict(getattr(record, name)) for name in MAPPINGS}


class Unreadable(NetdynoError):
    """A row that is not what this netdyno writes: damaged, edited, or of a newer one."""


def from_row(row: Mapping[str, Any]) -> Record:
    """The record in a row, checked as an import is. Raises Unreadable."""
    try:
        plain = {name: row[name] for name in (*PLAIN, *MAPPINGS)} | {"basis": row["basis"] or {}}
        plain |= {name: [{"steps": steps, "seconds": s} for steps, s in row[name]] for name in SAMPLES}
        plain["curve"] = [unnamed_floats(point) for point in row["curve"]]
        plain |= {name: row[name] for name in ("flags", "figures", "pictures")}
        plain["cell"] = _cell(tuple(row[n] for n in FIELDS))
        check_known(plain)
        return msgspec.convert(plain, Record)
    except (NetdynoError, TypeError, ValueError, AttributeError) as error:  # msgspec's own errors are ValueErrors
        raise Unreadable(f"record {shown(row['id'])} cannot be read: {place_of(error)}") from error


def proof_to_row(proof: Proof) -> dict[str, Any]:
    """Column by column."""
    kept = storable(proof, f"the proof of {proof.network}")
    row = {name: getattr(kept, name) for name in kept.__struct_fields__}
    return {**row, "worst": msgspec.to_builtins(kept.worst)}


def proof_from_row(row: Mapping[str, Any]) -> Proof:
    """The proof in a row, likewise."""
    try:
        texts = {name: row[name] or "" for name in PROOF_TEXTS}
        return msgspec.convert({**_plain(row), **texts, "worst": row["worst"] or ()}, Proof)
    except (NetdynoError, ValueError) as error:
        raise Unreadable(f"a proof of {shown(row['framework'])} cannot be read: {place_of(error)}") from error


def limit_from_row(row: Mapping[str, Any]) -> Limit:
    """The limit in a row, likewise."""
    try:
        return msgspec.convert(_plain(row), Limit)
    except (NetdynoError, ValueError) as error:
        raise Unreadable(f"a largest batch cannot be read: {place_of(error)}") from error


def named_floats(values: Mapping[str, Any]) -> dict[str, Any]:
    """NaN and the infinities by their names, as JSON has no such numbers."""
    return {
        name: _NAMES.get(str(v), v) if isinstance(v, float) and not isfinite(v) else v for name, v in values.items()
    }


def unnamed_floats(values: Mapping[str, Any]) -> dict[str, Any]:
    """The reverse."""
    return {name: _VALUES[v] if isinstance(v, str) and v in _VALUES else v for name, v in values.items()}


def read_json(text: str | bytes) -> Any:
    """JSON as stores hold it: mostly plain, at times with integers of any length. Of what is no JSON, nothing: the
    row that it is in cannot be read, all others can."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def write_json(value: Any) -> str:
    """The reverse."""
    try:
        return msgspec.json.encode(value).decode()
    except (OverflowError, UnicodeEncodeError):
        return json.dumps(value)


@lru_cache(maxsize=100)  # the runs of a cell often come one after the other
def _cell_columns(cell: Cell) -> Mapping[str, Any]:
    return {**cell.columns(), "cell_key": cell.key()}


@lru_cache(maxsize=100)
def _cell(columns: tuple[Any, ...]) -> Cell:
    values = dict(zip(FIELDS, columns, strict=True))
    return msgspec.convert({**values, "options": tuple(json.loads(values["options"]).items())}, Cell)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """With keys that are plain texts: the database's own are of a subclass, which msgspec does not take."""
    return {str(name): value for name, value in row.items()}


def _storable(value: object) -> object:
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "replace").decode().replace("\0", "�")


def _as_json(record: Record, name: str, value: object) -> Any:
    """The value as it will be read back: tuples are lists by then."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        message = f"record {record.id}: expected {name} to hold what JSON can say, received {error}."
        raise NetdynoError(message) from error


_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_VALUES = {name: float(text) for text, name in _NAMES.items()}
