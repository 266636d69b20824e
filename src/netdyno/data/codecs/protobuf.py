"""How is a protobuf message encoded? As much of it as records of images need: numbers and byte strings."""

from collections.abc import Iterator

from netdyno.errors import NetdynoError

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10


Span = tuple[int, int, int]  # of a field: its number and kind in one, where its value begins and ends


def fields(data: bytes, where: str) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field, in order; `where` names the message in errors."""
    for tag, begin, end in spans(data, 0, len(data), where):
        yield tag >> 3, _varint_at(data, begin, where)[0] if is_number(tag) else data[begin:end]


def spans(data: bytes, at: int, end: int, where: str) -> list[Span]:
    """The fields of the message at those bytes. Nothing is copied: records have dozens of fields."""
    found = []
    while at < end:
        tag, begin = (data[at], at + 1) if data[at] < 0x80 else _varint_at(data, at, where)
        if tag & 7 == _BYTES and begin < end and data[begin] < 0x80:  # nearly always
            begin, at = begin + 1, begin + 1 + data[begin]
        else:
            begin, at = _bounds(data, begin, tag & 7, where)
        if tag < 8:
            raise _wrong(where, begin, "a field", "one with the number 0")
        if at > end:
            raise _wrong(where, begin, f"{at - begin} bytes", f"{end - begin}")
        found.append((tag, begin, at))
    return found


def varints(data: bytes, where: str) -> Iterator[int]:
    """A single number, or the numbers of a packed repeated field."""
    at = 0
    while at < len(data):
        value, at = _varint_at(data, at, where)
        yield value


def is_number(tag: int) -> bool:
    """Whether a field's value is a number, and no bytes."""
    return tag & 7 == _VARINT


def _varint_at(data: bytes, at: int, where: str) -> tuple[int, int]:
    """The number that begins there, and where it ends."""
    value = shift = 0
    for place, byte in enumerate(data[at : at + _LONGEST_VARINT], at + 1):
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 2**64 - 1, place
        shift += 7
    raise _wrong(where, at, "a number", "no end of it")


def _bounds(data: bytes, at: int, kind: int, where: str) -> tuple[int, int]:
    """Where the value of a field of this kind begins and ends."""
    if kind == _VARINT:
        return at, _varint_at(data, at, where)[1]
    if kind == _BYTES:
        length, begin = _varint_at(data, at, where)
        return begin, begin + length
    if kind in (_EIGHT_BYTES, _FOUR_BYTES):
        return at, at + (8 if kind == _EIGHT_BYTES else 4)
    raise _wrong(where, at - 1, "a field", f"one of kind {kind}, which there is not")


def _wrong(where: str, at: int, expected: str, received: str) -> NetdynoError:
    return NetdynoError(f"{where}: expected {expected} at byte {at} of a message, received {received}.")


def number_field(number: int, value: int) -> bytes:
    """An int32, int64 or bool; negative numbers take ten bytes."""
    return varint(number << 3 | _VARINT) + varint(value)


def bytes_field(number: int, *parts: bytes) -> bytes:
    """A string, bytes or message, joined from its parts."""
    return b"".join((bytes_head(number, sum(map(len, parts))), *parts))


def bytes_head(number: int, length: int) -> bytes:
    """What precedes a value of `length` bytes."""
    return varint(number << 3 | _BYTES) + varint(length)


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    if 0 <= value < 0x80:  # nearly always
        return bytes((value,))
    value &= 2**64 - 1
    septets = bytearray()
    while value >= 0x80:
        septets.append(value & 0x7F | 0x80)
        value >>= 7
    septets.append(value)
    return bytes(septets)


def signed(value: int) -> int:
    """The int64 that a varint encodes."""
    return value - 2**64 if value >= 2**63 else value
