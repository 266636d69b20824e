"""How a record becomes a row of the database, and comes back the same."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.results.cell import FIELDS, Cell
from netdyno.results.record import Record, Sample

SAMPLES = ("samples", "warmup")
JSON_FIELDS = ("flags", "readings", "absent", "trace", "versions", "settings", "environment", "cost")
FLOATS = ("build_s", "first_step_s", "loss_first", "loss_last")
PLAIN = tuple(f.name for f in fields(Record) if f.name not in ("cell", *SAMPLES, *JSON_FIELDS))


def to_row(record: Record) -> dict[str, Any]:
    """Column by column. Characters no database stores, as a worker's last words may hold, become � or ?."""
    row = row_of_checked(record)
    return row | {name: _as_json(record, name, row[name]) for name in (*SAMPLES, *JSON_FIELDS)}


def row_of_checked(record: Record) -> dict[str, Any]:
    """The same for a record that was made of JSON: nothing in it needs to be tried."""
    row: dict[str, Any] = dict(_cell_columns(record.cell))
    row |= {name: _storable(getattr(record, name)) for name in PLAIN}
    # SQLite forgets the sign of a zero, so it is dropped at once: + 0.0 makes of -0.0 a plain 0.0.
    row |= {name: None if row[name] is None else float(row[name]) + 0.0 for name in FLOATS}
    for name in SAMPLES:
        row[name] = [[sample.steps, float(sample.seconds)] for sample in getattr(record, name)]
    for name in JSON_FIELDS:
        value = getattr(record, name)
        row[name] = dict(value) if isinstance(value, Mapping) else list(value)
    return row


def from_row(row: Mapping[str, Any]) -> Record:
    """The record in a row. Raises for a cell that this netdyno does not know."""
    mappings: dict[str, Any] = {name: row[name] or {} for name in JSON_FIELDS if name != "flags"}
    try:
        return Record(
            cell=Cell(**{name: row[name] for name in FIELDS}),
            samples=_samples(row["samples"]),
            warmup=_samples(row["warmup"]),
            flags=tuple(row["flags"]),
            **{name: row[name] for name in PLAIN},
            **mappings,
        )
    except NetdynoError as error:
        hint = "It may come from a newer netdyno: upgrade this one."
        raise NetdynoError(f"record {row['id']} cannot be read: {error}", hint=hint) from error


@lru_cache(maxsize=100)  # the runs of a cell often come one after the other
def _cell_columns(cell: Cell) -> Mapping[str, Any]:
    return {**cell.as_dict(), "cell_key": cell.key()}


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


def _samples(pairs: Sequence[Sequence[Any]]) -> tuple[Sample, ...]:
    return tuple(Sample(steps=steps, seconds=seconds) for steps, seconds in pairs)
