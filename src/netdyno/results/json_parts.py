"""How a large JSON object is read piece by piece: the elements of its lists one at a time, within limits."""

import codecs
import json
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO, NoReturn

from netdyno.errors import NetdynoError

CHUNK_BYTES = 1 << 20
LARGEST_PART = 16 << 20  # characters of one element
LARGEST_FILE = 32 << 30  # bytes, after decompression
LONGEST_TOKEN = 16  # characters that a word or an escape of JSON may have
SPACE = " \t\r\n"

Part = tuple[str, int | None, Any]
"""A top-level field, the number of the element from 1 (None for a field that is read whole), and the value."""


def read_parts(file: BinaryIO, lists: Collection[str]) -> Iterator[Part]:
    """The fields of the object in a file in their order; those in `lists` element by element."""
    reader = _Reader(file)
    reader.expect("{", "an object, which starts with {")
    if reader.peek() == "}":
        reader.expect("}", "}")
    else:
        yield from _fields(reader, lists)
    if reader.peek():
        reader.fail("nothing behind the end of the object")


def _fields(reader: "_Reader", lists: Collection[str]) -> Iterator[Part]:
    seen: set[str] = set()
    while True:
        name = reader.value()
        if not isinstance(name, str):
            reader.fail("the name of a field")
        if name in seen:
            raise NetdynoError(f"its field {name[:60]!r} comes twice.")
        seen.add(name)
        reader.expect(":", f"a colon behind {name[:60]!r}")
        if name in lists:
            yield from ((name, number, value) for number, value in _elements(reader, name))
        else:
            yield name, None, reader.value()
        if reader.expect(",}", "a comma or }") == "}":
            return


def _elements(reader: "_Reader", name: str) -> Iterator[tuple[int, Any]]:
    reader.expect("[", f"a list for '{name}'")
    if reader.peek() == "]":
        reader.expect("]", "]")
        return
    number = 0
    while True:
        number += 1
        reader.place = f"{name.removesuffix('s')} {number:,}"
        yield number, reader.value()
        if reader.expect(",]", "a comma or ]") == "]":
            reader.place = f"behind '{name}'"
            return


class _Reader:
    """A window that moves over the text of a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._read_bytes = 0
        self._ended = False
        self.place = "the start"

    def peek(self) -> str:
        """The next character that is not a space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in SPACE:
                self._at += 1
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._more()

    def expect(self, characters: str, told: str) -> str:
        """One of the characters, taken."""
        found = self.peek()
        if not found:
            self._cut()
        if found not in characters:
            self.fail(told)
        self._at += 1
        return found

    def value(self) -> Any:
        """The JSON value that starts here, taken."""
        if not self.peek():
            self._cut()
        while True:
            value, end = self._decode()
            # A number at the end of what was read may go on in what was not.
            if end is not None and (end < len(self._text) or self._ended):
                self._at = end
                return value
            if len(self._text) - self._at > LARGEST_PART:
                raise NetdynoError(f"{self.place} has over {LARGEST_PART:,} characters.")
            self._more()

    def fail(self, told: str) -> NoReturn:
        received = self._text[self._at : self._at + 20]
        raise NetdynoError(f"it is no JSON at {self.place}: expected {told}, received {received!r}.")

    def _decode(self) -> tuple[Any, int | None]:
        """The value and where it ends; None where more must be read to tell."""
        try:
            return _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            # Where only the end is wrong, it may be the end of what was read and not of the value.
            may_go_on = error.pos > len(self._text) - LONGEST_TOKEN or error.msg.startswith("Unterminated")
            if may_go_on and not self._ended:
                return None, None
            if may_go_on and self._text.rstrip(SPACE)[-1:] != "}":
                self._cut()
            raise NetdynoError(f"it is no JSON at {self.place}: {error.msg[:1].lower()}{error.msg[1:]}.") from None
        except RecursionError:
            raise NetdynoError(f"{self.place} is nested too deep.") from None
        except ValueError as error:  # a number that is none, or one of thousands of digits
            raise NetdynoError(f"{self.place}: {error}") from None

    def _cut(self) -> NoReturn:
        raise NetdynoError(f"it is cut: it ends in the middle, at {self.place}.", hint="Copy or export it again.")

    def _more(self) -> None:
        """Forget what was taken and read on: as much again as is waiting, so that a long value is not tried often."""
        waiting = self._text[self._at :]
        data = self._file.read(max(CHUNK_BYTES, len(waiting)))
        self._read_bytes += len(data)
        if self._read_bytes > LARGEST_FILE:
            raise NetdynoError(f"it has over {LARGEST_FILE >> 30} GiB.")
        self._ended = not data
        self._text, self._at = waiting + self._decoder.decode(data, final=not data), 0


def _refuse(name: str) -> NoReturn:
    raise ValueError(f'expected a number, received {name}, which JSON does not have: "{name}" would be a text.')


_DECODER = json.JSONDecoder(parse_constant=_refuse)
