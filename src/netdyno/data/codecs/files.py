"""Which bytes lie at an offset of a file? Several processes can read it, not past its end."""

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError

LARGEST_BYTES = 2**30  # of one record or compressed file; a header that claims more is wrong
LARGEST_IMAGE_BYTES = 2**28


def read_whole(path: str, most_bytes: int = LARGEST_IMAGE_BYTES) -> bytes:
    """All of a file, with as few system calls as possible: datasets have a million small ones."""
    descriptor, size = _opened(path)
    try:
        if size > most_bytes:
            raise NetdynoError(f"{path}: expected at most {most_bytes:,} bytes, received {size:,}.")
        data = os.read(descriptor, size)
    except OSError as error:
        raise NetdynoError(f"{path} cannot be read: {error.strerror}.") from error
    finally:
        os.close(descriptor)
    if len(data) != size:
        raise NetdynoError(f"{path}: expected {size} bytes, received {len(data)}.")
    return data


def write_all(descriptor: int, data: bytes | memoryview, at: int) -> None:
    """All of it: one system call may write less."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, at)
        rest, at = rest[written:], at + written


def sync_path(path: Path) -> None:
    """Wait until the disk has a file or a folder's entries."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


@contextmanager
def as_one_line(
    path: Path, doing: str = "", hint: str = "", errors: tuple[type[Exception], ...] = (OSError,)
) -> Iterator[None]:
    """Turn an error of the operating system into one line that names the file."""
    try:
        yield
    except errors as error:
        named, reason = getattr(error, "filename", None) or path, getattr(error, "strerror", None) or error
        raise NetdynoError(f"{os.fsdecode(named)}: {doing}{reason}.", hint=hint) from error


class File:
    """A file that is read by offset, also by several threads; opened on first use, and again in each process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._descriptor = -1
        self._size = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path,)

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    @property
    def size(self) -> int:
        """In bytes, when it was opened."""
        if self._descriptor < 0:
            with self._lock:
                self._open()
        return self._size

    def read(self, offset: int, length: int) -> bytes:
        """Exactly those bytes."""
        if length > self.size - offset or length > LARGEST_BYTES:
            raise self.wrong(
                offset, f"expected {length} bytes, received {max(self.size - offset, 0)} to the file's end"
            )
        try:
            data = os.pread(self._descriptor, length, offset)
        except OSError as error:
            raise self.wrong(offset, f"expected {length} bytes, received {error.strerror}") from error
        if len(data) != length:
            raise self.wrong(offset, f"expected {length} bytes, received {len(data)}")
        return data

    def wrong(self, offset: int, what: str) -> NetdynoError:
        """An error that names file and position."""
        return NetdynoError(f"{self.path}, byte {offset}: {what}.")

    def _open(self) -> None:
        if self._descriptor < 0:
            descriptor, self._size = _opened(self.path)
            self._descriptor = descriptor  # last: another thread that sees it relies on the size


def _opened(path: str | Path) -> tuple[int, int]:
    """Descriptor and size. O_NONBLOCK: opening a pipe would wait for its other end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise NetdynoError(f"{path} cannot be read: {error.strerror}.") from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise NetdynoError(f"{path}: expected a file, received a folder, pipe or device.")
    return descriptor, found.st_size
