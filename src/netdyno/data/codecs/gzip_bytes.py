"""What a compressed file holds, in memory: unpacked once in each process, and no further than was announced."""

import functools
import gzip
import zlib
from pathlib import Path
from typing import Any

from netdyno.data.codecs.spans import File
from netdyno.errors import NetdynoError

LARGEST_BYTES = 2**30
_LARGEST_RATIO = 1032  # no deflate stream unpacks to more


class GzipFile(File):
    """Read by offset as a plain file is."""

    def __reduce__(self) -> tuple[Any, ...]:
        return GzipFile, (self.path,)

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
        """An error that names file and position."""
        return NetdynoError(f"{self.path}, byte {offset} when unpacked: {what}.")

    def _content(self) -> memoryview:
        try:
            state = self.path.stat()
        except OSError as error:
            raise NetdynoError(f"{self.path} cannot be read: {error.strerror}.") from error
        return _unpacked(self.path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=4)
def _unpacked(path: Path, changed_ns: int, packed_bytes: int) -> memoryview:
    """All of it, its checksum verified. `changed_ns` is there so that a file that changed is read again."""
    limit = min(LARGEST_BYTES, packed_bytes * _LARGEST_RATIO)
    try:
        with gzip.open(path) as file:
            data = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise NetdynoError(f"{path}: expected a complete gzip file, received: {error}.") from error
    if len(data) > limit:
        raise NetdynoError(
            f"{path}: expected at most {LARGEST_BYTES:,} bytes in it, received more.",
            hint=f"Unpack it first: gunzip --keep {path.name}",
        )
    return memoryview(data)
