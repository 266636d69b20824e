"""How an export is read, part by part: JSON Lines, or the single object that netdyno 0.1 wrote."""

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import msgspec

from netdyno.errors import NetdynoError
from netdyno.results.exchange.check import TYPES, Part, Unexpected, checked
from netdyno.results.exchange.lines import END, FORMAT, KIND, SCHEMA_VERSION, encoded
from netdyno.results.exchange.version1 import LISTS, Courses, converted

LARGEST_LINE = 64 << 20  # bytes
LARGEST_FILE = 32 << 30  # bytes, after decompression
LARGEST_OBJECT = 4 << 30  # bytes of an export of schema_version 1, which is read in one piece
MOST = 1_000_000  # parts of a kind
SQLITE_START, GZIP_START, BOM = b"SQLite format 3\0", b"\x1f\x8b", b"\xef\xbb\xbf"
HEADER = ("format", "schema_version", "netdyno_version")
EXPORT_HINT = "Write one with: netdyno results export --format json -o FILE"


class Found(NamedTuple):
    """One part of a file; `place` names it in messages."""

    part: Part
    place: str


def read_export(path: Path) -> Iterator[Found]:
    """Everything in a file, checked; its digest is checked at the end."""
    with _opened(path) as file:
        first = file.readline(LARGEST_LINE).removeprefix(BOM)
        first.decode()  # what is not text at all is reported as such
        header = _header(first)
        if header is None or header.get("schema_version") == 1:
            yield from _read_object(first, file)
        else:
            _check_header(header)
            yield from _read_lines(file)


def _header(line: bytes) -> dict[str, Any] | None:
    """The first line, if it is a whole object; None where the object goes on behind it."""
    if not line.strip():
        _refuse_cut("the start")
    if not line.lstrip().startswith((b"{", b"[")):
        raise NetdynoError("it is no JSON at the start: expected an object.", hint=EXPORT_HINT)
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if not isinstance(value, dict):
        raise NetdynoError(f"expected an object, received {str(value)[:60]!r}.", hint=EXPORT_HINT)
    _check_format(value)
    return value


def _check_format(header: Mapping[str, Any]) -> None:
    if header.get("format", FORMAT) != FORMAT:
        message = f'expected "format": "{FORMAT}", received {str(header["format"])[:60]!r}.'
        raise NetdynoError(message, hint=EXPORT_HINT)
    missing = [name for name in HEADER[:2] if name not in header]
    if missing:
        message = f"expected the fields format and schema_version at its start, received none named {missing[0]}."
        raise NetdynoError(message, hint=EXPORT_HINT)


def _check_header(header: Mapping[str, Any], *more: str) -> None:
    _check_format(header)
    version = header["schema_version"]
    if type(version) is not int or version < 1:
        raise NetdynoError(f"field schema_version: expected a whole number, received {str(version)[:60]!r}.")
    if version > SCHEMA_VERSION:
        message = f"it has schema_version {version}; this netdyno reads up to {SCHEMA_VERSION}."
        raise NetdynoError(message, hint="Upgrade netdyno: pip install --upgrade netdyno.")
    for name in header:
        if name not in (*HEADER, *more):
            raise NetdynoError(f"no field of an export is named {str(name)[:60]!r}.")


def _read_lines(file: BinaryIO) -> Iterator[Found]:
    digest, counts, end, read_bytes = hashlib.sha256(), dict.fromkeys(TYPES, 0), None, 0
    place = "its header"
    while line := file.readline(LARGEST_LINE + 1):
        read_bytes += len(line)
        _check_size(len(line), read_bytes, f"the line behind {place}")
        plain = _decoded(line, f"the line behind {place}")
        if end is not None:
            raise NetdynoError("expected nothing behind the line that ends it.")
        kind = plain.pop(KIND, None) if isinstance(plain, dict) else None
        if kind == END:
            end = plain
            continue
        if not isinstance(kind, str) or kind not in TYPES:
            expected = f"expected a {KIND} among {', '.join((*TYPES, END))}"
            raise NetdynoError(f"the line behind {place}: {expected}, received {str(kind)[:60]!r}.")
        counts[kind] += 1
        place = _place(kind, counts[kind])
        digest.update(encoded(plain))
        with _at(place):
            part = checked(kind, plain)
        yield Found(part, place)
    if end is None:
        _refuse_cut(place)
    _check_digest(end.get("digest"), digest.hexdigest())


def _read_object(first: bytes, file: BinaryIO) -> Iterator[Found]:
    """An export of schema_version 1: one object with lists of records, proofs, courses and machines."""
    data = first + file.read(LARGEST_OBJECT)
    if len(data) >= LARGEST_OBJECT:
        _refuse_size(LARGEST_OBJECT)
    fields: dict[str, msgspec.Raw] = _decoded(data, "the start", dict[str, msgspec.Raw])
    header = {name: _decoded(raw, name) for name, raw in fields.items() if name not in LISTS}
    _check_header(header, "digest")
    digest, courses = hashlib.sha256(), Courses()
    for name, kind in LISTS.items():
        for number, raw in enumerate(_elements(name, fields.get(name)), 1):
            place = _place(kind, number)
            plain = _decoded(raw, place)
            if kind != "machine":
                digest.update(json.dumps(plain, separators=(",", ":")).encode())
            with _at(place):
                if kind == "course":
                    courses.add(place, plain)
                    continue
                part = converted(kind, plain)
            yield Found(part, place)
    yield from (Found(record, place) for place, record in courses.records())
    _check_digest(header.get("digest"), digest.hexdigest())


def _elements(name: str, raw: msgspec.Raw | None) -> list[msgspec.Raw]:
    if raw is None:
        return []
    if not bytes(raw).lstrip().startswith(b"["):
        raise NetdynoError(f"expected a list for '{name}', received {bytes(raw)[:20]!r}.")
    found: list[msgspec.Raw] = _decoded(raw, name, list[msgspec.Raw])
    return found


def _place(kind: str, number: int) -> str:
    if number > MOST:
        raise NetdynoError(f"expected at most {MOST:,} {kind}s.")
    return f"{kind} {number:,}"


def _decoded(data: bytes | msgspec.Raw, place: str, kind: Any = Any) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:  # a number beyond 64 bits, which a field of any kind may hold
        if kind is Any:
            return _decoded_slowly(bytes(data), place)
        raise NetdynoError(f"it is no JSON at {place}: {error}.") from None
    except msgspec.DecodeError as error:
        if "truncated" in str(error):
            _refuse_cut(place)
        raise NetdynoError(f"it is no JSON at {place}: {str(error).removeprefix('JSON is ')}.") from None
    except RecursionError:
        raise NetdynoError(f"{place} is nested too deep.") from None


def _decoded_slowly(data: bytes, place: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NetdynoError(f"{place}: {error}") from None


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Name the part of the file in what is raised."""
    try:
        yield
    except Unexpected as error:
        where = f", field {error.where}" if error.where else ""
        raise NetdynoError(f"{place}{where}: {error}.") from error
    except NetdynoError as error:
        raise NetdynoError(f"{place}: {error}") from error


def _check_size(line_bytes: int, read_bytes: int, place: str) -> None:
    if line_bytes > LARGEST_LINE:
        raise NetdynoError(f"{place} has over {LARGEST_LINE:,} bytes.")
    if read_bytes > LARGEST_FILE:
        _refuse_size(LARGEST_FILE)


def _check_digest(given: Any, digest: str) -> None:
    if given not in (None, f"sha256:{digest}"):
        hint = "Import the file as it was exported."
        raise NetdynoError("it was changed after it was exported: its digest does not fit.", hint=hint)


def _refuse_cut(place: str) -> NoReturn:
    raise NetdynoError(f"it is cut: it ends in the middle, behind {place}.", hint="Copy or export it again.")


def _refuse_size(largest: int) -> NoReturn:
    raise NetdynoError(f"it has over {largest >> 30} GiB.", hint="Import the store's parts one by one.")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of an export, unpacked if it is compressed."""
    with path.open("rb") as file:
        start = file.read(len(SQLITE_START))
        file.seek(0)
        if start == SQLITE_START:
            hint = f"Export it first: netdyno --store {path} results export --format json -o FILE"
            raise NetdynoError("it is a store, not an export.", hint=hint)
        if start.startswith(GZIP_START):
            with gzip.open(file) as unpacked:
                yield unpacked  # type: ignore[misc]
        else:
            yield file
