"""What a store keeps and gives back: values of their types, within the limits that an import has.

So whatever a store took can be exported and imported, and a damaged row is told from a sound one before it is used.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
from msgspec import Meta, Struct

from netdyno.errors import NetdynoError
from netdyno.results.cell import COUNTS, FIELDS
from netdyno.results.record import Record
from netdyno.results.store.tables import RUNS
from netdyno.results.values import CONTROLS, Count, Name, Number, Seconds
from netdyno.text import shown

DEEPEST = 16  # levels of a machine's description, or of an adapter's settings
LONGEST_NAME, LONGEST_PHRASE, LONGEST_WORDS = 1000, 10_000, 100_000
WORDS = ("reason", "flags", "absent", "worst_node")  # output of programs
PHRASES = ("environment", "settings")  # descriptions by a machine and an adapter
DAMAGED = "Restore a copy, or start a new file; run folders hold what was measured."

T = TypeVar("T", bound=Struct)
Row = TypeVar("Row")


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
        plain = {name: _cleaned(part, name) for name, part in msgspec.to_builtins(value).items()}
        for name in _KNOWN.keys() & plain.keys():
            msgspec.convert(plain[name], _KNOWN[name])
        return msgspec.convert(plain, type(value))
    except (msgspec.ValidationError, TypeError) as error:
        raise NetdynoError(f"{what} cannot be kept: {error}.") from None


def sound(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row of a run, if its values are of their types. Raises NetdynoError."""
    try:
        msgspec.convert({name: row[name] for name in FIELDS}, _Columns)
        msgspec.convert({name: row[name] for name in _Row.__struct_fields__}, _Row)
        for name, known in _KNOWN.items():
            msgspec.convert(row[name], known)
        for name in ("started_at", "ended_at"):
            datetime.fromisoformat(row[name])
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise _damage(f"record {row['id']}", error) from None
    return row


def sound_proof(row: Mapping[str, Any], kind: type[T]) -> T:
    """The proof in a row. Raises NetdynoError."""
    try:
        return msgspec.convert({str(name): value for name, value in row.items()}, kind)
    except msgspec.ValidationError as error:
        raise _damage(f"the proof of {shown(row['framework'])}", error) from None


def sound_trace(id_: str, trace: Any) -> Mapping[str, list[tuple[float, float]]]:
    """What was read over time in the run of that id. Raises NetdynoError."""
    try:
        return msgspec.convert(trace, dict[str, list[tuple[float, float]]])
    except msgspec.ValidationError as error:
        raise _damage(f"the trace of record {id_}", error) from None


def sound_rows(rows: Mapping[str, Row], ids: Iterable[str]) -> Mapping[str, Row]:
    """The rows, if there is one for each id. Raises NetdynoError: an index and its table disagree."""
    if missing := [id_ for id_ in ids if id_ not in rows]:
        raise NetdynoError(f"the store is damaged: record {missing[0]} is in an index only.", hint=DAMAGED)
    return rows


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


def _damage(what: str, error: Exception) -> NetdynoError:
    """One of msgspec's messages names the place, and repeats a long pattern."""
    problem, _, place = str(error).partition(" - at `$.")
    return NetdynoError(
        f"{what} is damaged: {place.rstrip('`') or problem}.",
        hint=f"{DAMAGED} If it comes from a newer netdyno, upgrade this one.",
    )


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _row_type() -> type[Struct]:
    """The columns of a run that hold what a record does, as a database gives them back; all but the cell's."""
    hints = get_type_hints(Record, include_extras=True)
    pairs = list[tuple[Count, Seconds]]
    curve = list[dict[str, int | float | str]]
    # Points of a trace are many, and few readers want them: `sound_trace`.
    special = {"samples": pairs, "warmup": pairs, "curve": curve, "trace": dict[str, list[Any]]}
    names = [field.name for field in msgspec.structs.fields(Record) if field.name != "cell"]
    types = {name: special.get(name, hints[name]) for name in names}
    return msgspec.defstruct("Row", [(n, kind | None if RUNS.c[n].nullable else kind) for n, kind in types.items()])


_CONTROLS = re.compile(f"[{CONTROLS}]")
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a line break and a tab are harmless
_Row = _row_type()
_Columns = msgspec.defstruct("Columns", [(name, int if name in COUNTS else str) for name in FIELDS])
_KNOWN: Mapping[str, type[Struct]] = {"settings": KnownSettings, "environment": KnownEnvironment}
