"""Which bytes lie at an offset of a compressed file? It is decompressed into memory, no further than it may be."""

import functools
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from netdyno.data.codecs.files import LARGEST_BYTES, File, as_one_line
from netdyno.errors import NetdynoError

HEAD_BYTES = 64
_GZIP = 31  # what zlib calls the format
_READ_BYTES = 2**16
_STEP_BYTES = 2**22
_LARGEST_PADDING_BYTES = 2**20  # of zeros, which may follow a stream
_LARGEST_RATIO = 1032  # no deflate stream expands more


class GzipFile(File):
    """A compressed file, decompressed into memory once in each process. `announced` says how many bytes it can have,
    from its first 64 bytes: no more than one more is decompressed, and none but those 64 if it says 0."""

    def __init__(self, path: Path, announced: Callable[[bytes], int]) -> None:
        super().__init__(path)
        self._announced = announced

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self._announced)

    @property
    def size(self) -> int:
        return len(self._content())

    def read(self, offset: int, length: int) -> bytes:
        """Exactly those bytes."""
        data = self._content()[offset : offset + length]
        if len(data) != length:
            raise self.wrong(offset, f"expected {length} bytes, received {len(data)} to the end")
        return bytes(data)

    def wrong(self, offset: int, what: str) -> NetdynoError:
        return NetdynoError(f"{self.path}, byte {offset} when unpacked: {what}.")

    def _content(self) -> memoryview:
        with as_one_line(self.path, "cannot be read: "):
            state = self.path.stat()
        return _decompressed(self.path, self._announced, (state.st_mtime_ns, state.st_size))


@functools.lru_cache(maxsize=4)
def _decompressed(path: Path, announced: Callable[[bytes], int], state: tuple[int, int]) -> memoryview:
    """The content, its checksum verified, and a byte more if it has more than announced. `state`, the time and size
    of the file, makes one that changed be read again."""
    data = bytearray()
    try:
        with path.open("rb") as file:
            parts = _parts(file)
            while len(data) < HEAD_BYTES and (part := next(parts, None)) is not None:
                data += part
            limit = _limit(path, announced(bytes(data[:HEAD_BYTES])), state[1])
            while len(data) <= limit and (part := next(parts, None)) is not None:
                data += part
    except (OSError, EOFError, zlib.error) as error:
        raise NetdynoError(f"{path}: expected a complete gzip file, received: {error}.") from error
    return memoryview(data)[: limit + 1] if limit else memoryview(data)


def _limit(path: Path, announced_bytes: int, compressed_bytes: int) -> int:
    """How many bytes there can be; what does not fit into memory is to be unpacked by the user."""
    limit = min(announced_bytes, compressed_bytes * _LARGEST_RATIO)
    if limit > LARGEST_BYTES:
        raise NetdynoError(
            f"{path}: expected at most {LARGEST_BYTES:,} bytes in it, received a header that announces more.",
            hint=f"If that is right, unpack it first: gunzip --keep {path.name}",
        )
    return limit


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    """What is in all streams of a file, one after another. Not by `gzip`, which reads zeros behind them to their end,
    byte by byte."""
    rest = file.read(_READ_BYTES)
    while rest:
        stream = zlib.decompressobj(_GZIP)
        while not stream.eof:
            rest = rest or file.read(_READ_BYTES)
            part = stream.decompress(rest, _STEP_BYTES)
            if not rest and not part:
                raise EOFError("the end of the file before the end of its content")
            rest = stream.unconsumed_tail
            yield part
        rest = _after_padding(file, stream.unused_data)


def _after_padding(file: IO[bytes], rest: bytes) -> bytes:
    """What follows the zeros behind a stream."""
    padding = 0
    while not (left := rest.lstrip(b"\0")) and padding <= _LARGEST_PADDING_BYTES:
        padding += len(rest)
        rest = file.read(_READ_BYTES)
        if not rest:
            return b""
    if not left:
        raise EOFError(f"over {_LARGEST_PADDING_BYTES} zeros behind its content")
    return left
