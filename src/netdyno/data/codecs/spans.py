"""Which bytes lie at some place of a file? Read by several processes, and never more than the file has."""

import os
import stat
import threading
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError

LARGEST_BYTES = 2**30  # of one image or record: more is a lie in a header, not an image


def read_whole(path: str) -> bytes:
    """All of a file that is read but once: no more is asked of the system than needed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait for its other end
    except OSError as error:
        raise NetdynoError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        return _all(descriptor, path)
    except OSError as error:
        raise NetdynoError(f"{path} cannot be read: {error.strerror}.") from error
    finally:
        os.close(descriptor)


class File:
    """A file that is read by offset, by several threads too; opened when first needed, and again in each process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._descriptor = -1
        self._size = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return File, (self.path,)

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
        if self._descriptor >= 0:
            return
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait for its other end
        except OSError as error:
            raise NetdynoError(f"{self.path} cannot be read: {error.strerror}.") from error
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            os.close(descriptor)
            raise NetdynoError(f"{self.path}: expected a file, received a folder, pipe or device.")
        self._size = found.st_size
        self._descriptor = descriptor  # last: who sees it sees the size


def _all(descriptor: int, path: str) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise NetdynoError(f"{path}: expected a file, received a folder, pipe or device.")
    if found.st_size > LARGEST_BYTES:
        raise NetdynoError(f"{path}: expected at most {LARGEST_BYTES} bytes, received {found.st_size}.")
    data = os.read(descriptor, found.st_size)
    if len(data) != found.st_size:
        raise NetdynoError(f"{path}: expected {found.st_size} bytes, received {len(data)}.")
    return data
