"""How data from outside becomes a record, proof or graph: checked by their types, refused with place and reason."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from math import isfinite
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from netdyno.results.cell import Word
from netdyno.results.proof import Proof
from netdyno.results.record import Environment, Record
from netdyno.results.store.rows import FLOATS, unnamed_floats
from netdyno.results.store.sound import DEEPEST, LONGEST_PHRASE, KnownEnvironment, KnownSettings
from netdyno.results.values import TIME, Id, Moment, Name, Whole
from netdyno.text import shown

PROOF_FLOATS = ("outputs", "gradients", "parameters")


class Graph(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A graph by its digest, in the form in which a worker gets it."""

    digest: Name
    wire: Annotated[str, Meta(max_length=64 << 20)]


class Machine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an export says of a machine: for people, not imported."""

    name: Name
    records: Whole
    last_run_at: Moment
    environment: Environment


T = TypeVar("T")
Part = Record | Proof | Graph | Machine
TYPES: Mapping[str, type[Part]] = {"record": Record, "proof": Proof, "graph": Graph, "machine": Machine}


class Unexpected(Exception):
    """A value that is not as it should be; `where` is its place, such as `samples[3].seconds`."""

    def __init__(self, where: str, expected: str, received: object) -> None:
        words = received if isinstance(received, _Bare) else shown(received)
        super().__init__(f"expected {expected}, received {words}")
        self.where = "".join(c if c.isprintable() else "�" for c in where.removeprefix("."))[:200]


class _Bare(str):
    """Words that are shown without quotes."""


def checked(kind: str, plain: Any) -> Part:
    """The value in data of that kind. Raises Unexpected, and NetdynoError where its parts do not fit together."""
    made = convert(_with_floats(kind, plain), TYPES[kind])
    if isinstance(made, Record):
        return _checked_record(made)
    if isinstance(made, Proof):
        return replace(made, reason=clean(made.reason), worst_node=clean(made.worst_node))
    if isinstance(made, Graph):
        _check_wire(made)
    return made


def clean(words: str) -> str:
    """What some program printed, without what would make a terminal do things or a database refuse."""
    return _CONTROLS.sub("�", words.encode("utf-8", "replace").decode())


def _with_floats(kind: str, plain: Any) -> Any:
    """Numbers that JSON has no notation for, out of their names; options as pairs."""
    if not isinstance(plain, dict):
        return plain
    names = FLOATS if kind == "record" else PROOF_FLOATS
    data = plain | unnamed_floats({name: plain[name] for name in names if name in plain})
    if kind == "record" and isinstance(plain.get("curve"), list):
        data["curve"] = [unnamed_floats(point) if isinstance(point, dict) else point for point in plain["curve"]]
    cell = plain.get("cell")
    if kind == "record" and isinstance(cell, dict) and isinstance(cell.get("options"), dict):
        data["cell"] = cell | {"options": [[name, value] for name, value in cell["options"].items()]}
    return data


def _checked_record(record: Record) -> Record:
    for name in ("started_at", "ended_at"):
        if not _is_moment(getattr(record, name)):
            raise Unexpected(name, _TIME_WORDS, getattr(record, name))
    for name, known in (("settings", KnownSettings), ("environment", KnownEnvironment)):
        value = getattr(record, name)
        _check_json(value, name, DEEPEST)
        convert(dict(value), known, prefix=name)
    words = {name: clean(reason) for name, reason in record.absent.items()}
    return replace(record, reason=clean(record.reason), flags=tuple(map(clean, record.flags)), absent=words)


def _check_wire(graph: Graph) -> None:
    try:
        wire = msgspec.json.decode(graph.wire)
    except (msgspec.MsgspecError, RecursionError):
        wire = None
    if not isinstance(wire, dict):
        raise Unexpected("wire", "a graph as JSON", graph.wire)


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def _check_json(value: Any, where: str, deepest: int) -> None:
    """Whatever JSON can say, not too deep, with texts that can be shown."""
    if isinstance(value, str) and (len(value) > LONGEST_PHRASE or not _is_showable(value)):
        raise Unexpected(where, f"a text without control characters, of at most {LONGEST_PHRASE:,}", value)
    if isinstance(value, float) and not isfinite(value):
        raise Unexpected(where, "a number that is finite", value)
    if isinstance(value, dict | list):
        if not deepest:
            raise Unexpected(where, "a value that is nested less deep", value)
        for part, item in value.items() if isinstance(value, dict) else enumerate(value):
            below = f"{where}[{part}]" if isinstance(part, int) else f"{where}.{part}"
            _check_json(part, below, 0)
            _check_json(item, below, deepest - 1)


def _is_showable(text: str) -> bool:
    return text.isprintable() or not _ANY_CONTROL.search(text)


def convert(data: Any, kind: type[T], prefix: str = "") -> T:
    """The value of a type in plain data. Raises Unexpected."""
    if not isinstance(data, dict):
        raise Unexpected("", "an object", data)
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _explained(str(error), data, kind, prefix) from None


def _explained(message: str, data: dict[str, Any], kind: type, prefix: str) -> Unexpected:
    """msgspec's message as one of ours: which value, what was expected, what was received."""
    fault, _, path = message.partition(" - at `")
    place, value = "", data
    for field, index, some_key in _STEP.findall(path.removeprefix("key` in `")):
        step = _wrong_key(data, place[1:], kind) if some_key else int(index) if index else field
        place += f"[{step}]" if index else f".{step}"
        value = _below(value, step)
    if match := re.fullmatch(r"Object contains unknown field `(.*)`", fault, re.DOTALL):
        return Unexpected(f"{prefix}{place}.{match[1][:60]}", "no such field", _below(value, match[1]))
    if match := re.fullmatch(r"Object missing required field `(.*)`", fault):
        return Unexpected(prefix + place, f"a field '{match[1]}'", _Bare(", ".join(map(str, value))[:200] or "none"))
    return Unexpected(prefix + place, _expected(fault), value)


def _wrong_key(data: dict[str, Any], field: str, kind: type) -> str:
    """The first key of a mapping whose value is refused: msgspec does not name it."""
    for key, value in data[field].items():
        try:
            msgspec.convert({**data, field: {key: value}}, kind)
        except msgspec.ValidationError:
            return str(key)
    return ""


def _below(value: Any, step: str | int) -> Any:
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return value


def _expected(fault: str) -> str:
    """What was expected, in plain words."""
    kind, _, limit = fault.removeprefix("Expected `").partition("`")
    if fault.startswith("Invalid"):
        return _KINDS["bytes"] if "base64" in fault else "another value"
    if pattern := re.fullmatch(r" matching regex (.*)", limit, re.DOTALL):
        if options := re.match(r"'\^\((.*)\)\$", pattern[1]):
            return f"one of {options[1].replace('|', ', ')}"
        return _PATTERNS.get(pattern[1], "a name")
    words = " or ".join(_KINDS.get(each, each) for each in kind.split(" | ") if each != "null")
    return words + ("" if limit.startswith(", got") else limit)


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a line break and a tab are harmless
_ANY_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|(\[\.\.\.\])")
_TIME_WORDS = "a time such as 2026-11-15T10:00:00+00:00"
_KINDS = {"int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false"} | {
    "object": "an object",
    "array": "a list",
    "bytes": "bytes in base64",
}


def _patterns() -> Iterator[tuple[str, str]]:
    named = {Name: "a text without control characters", Id: "the name of a folder", Word: "a word in small letters"}
    for kind, words in named.items():
        yield repr(kind.__metadata__[0].pattern), words  # type: ignore[attr-defined]
    yield repr(TIME), _TIME_WORDS


_PATTERNS = dict(_patterns())
