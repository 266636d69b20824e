"""How does a protobuf message lie on the wire? As much of it as records of images need: numbers and byte strings."""

from collections.abc import Iterator
from dataclasses import dataclass

from netdyno.errors import NetdynoError

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10


@dataclass(frozen=True, slots=True)
class Message:
    """A message or byte string on the wire; `where` names it should it be broken."""

    data: memoryview
    where: str

    def fields(self) -> Iterator[tuple[int, "int | Message"]]:
        """Number and value of each, in their order."""
        data, at = self.data, 0
        while at < len(data):
            tag, at = self._varint(at)
            if tag < 8:
                raise self._wrong(at - 1, "a field", "one with the number 0")
            if tag & 7 == _VARINT:
                value, at = self._varint(at)
                yield tag >> 3, value
            else:
                length, at = self._length(at, tag & 7)
                yield tag >> 3, Message(data[at : at + length], self.where)
                at += length

    def messages(self, number: int) -> Iterator["Message"]:
        """The messages or byte strings in fields of this number."""
        for found, value in self.fields():
            if found == number:
                if isinstance(value, int):
                    raise NetdynoError(
                        f"{self.where}: expected bytes in field {number}, received the number {value}."
                    )
                yield value

    def varints(self) -> Iterator[int]:
        """Those of a packed repeated field."""
        at = 0
        while at < len(self.data):
            value, at = self._varint(at)
            yield value

    def _length(self, at: int, kind: int) -> tuple[int, int]:
        """How long a field's value is, and where it begins."""
        if kind == _BYTES:
            length, at = self._varint(at)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            length = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise self._wrong(at - 1, "a field", f"one of kind {kind}, which there is not")
        if length > len(self.data) - at:
            raise self._wrong(at, f"{length} bytes", f"{len(self.data) - at}")
        return length, at

    def _varint(self, at: int) -> tuple[int, int]:
        """The number that begins there, and where it ends."""
        if at < len(self.data) and self.data[at] < 0x80:  # nearly always
            return self.data[at], at + 1
        value = shift = 0
        for place, byte in enumerate(self.data[at : at + _LONGEST_VARINT], at + 1):
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 2**64 - 1, place
            shift += 7
        raise self._wrong(at, "a number", "no end of it")

    def _wrong(self, at: int, expected: str, received: str) -> NetdynoError:
        return NetdynoError(f"{self.where}: expected {expected} at byte {at} of a message, received {received}.")


def number_field(number: int, value: int) -> bytes:
    """An int32, int64 or bool; negative ones take ten bytes, as everywhere."""
    return varint(number << 3 | _VARINT) + varint(value)


def bytes_field(number: int, *parts: bytes) -> bytes:
    """A string, bytes or message, put together from its parts."""
    return b"".join((bytes_head(number, sum(map(len, parts))), *parts))


def bytes_head(number: int, length: int) -> bytes:
    """What stands before so many bytes."""
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
    """What an int64's varint stands for."""
    return value - 2**64 if value >= 2**63 else value
