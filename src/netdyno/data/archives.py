"""How files are taken out of an archive that a stranger made: only those asked for, never more than was announced."""

import gzip
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from netdyno.errors import NetdynoError

BLOCK_BYTES = 1 << 20
SLACK_BYTES = 1 << 20  # for a tar's headers and its files that nobody asked for


def unpack_tar(archive: Path, wanted: Mapping[str, int], into: Path) -> None:
    """Take the files named in `wanted` (name without folders: size in bytes) out of a tar, compressed or not.

    Nothing else is written, so a path that leads elsewhere cannot; it is refused all the same, as are links, devices,
    and an archive that unpacks to much more than the files it was opened for.
    """
    missing = dict(wanted)
    limit = 2 * sum(wanted.values()) + SLACK_BYTES
    with _told_as_broken(archive), _opened(archive, limit) as tar:
        for member in tar:
            _refuse_dangerous(archive, member)
            name = Path(member.name).name
            if member.isfile() and name in missing:
                _check_size(f"'{member.name}' in {archive}", missing.pop(name), member.size)
                _write_member(tar, member, into / name)
    if missing:
        raise NetdynoError(f"{archive}: expected a file '{min(missing)}' in it, received an archive without one.")


def unpack_gzip(packed: Path, into: Path, size_bytes: int) -> str:
    """Unpack one file, checked to be of this size; its MD5."""
    with _told_as_broken(packed), _Limited(cast(IO[bytes], gzip.open(packed)), size_bytes, packed) as stream:
        digest = _copy(stream, into)
    _check_size(f"{packed} unpacked", size_bytes, into.stat().st_size)
    return digest


def copy_file(path: Path, into: Path) -> str:
    """Copy a file; its MD5. Durable when this returns, under the name that was given."""
    with _told_as_broken(path), path.open("rb") as stream:
        return _copy(stream, into)


def md5_of(path: Path) -> str:
    """As published beside datasets: it proves that nothing was damaged, not that nobody wished to deceive."""
    with _told_as_broken(path), path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


class _Limited(io.RawIOBase):
    """A stream that refuses to give more than `limit` bytes: what a bomb unpacks to is never held."""

    def __init__(self, stream: IO[bytes], limit: int, archive: Path) -> None:
        self._stream = stream
        self._left = limit
        self._limit = limit
        self._archive = archive

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = min(size if size >= 0 else BLOCK_BYTES, BLOCK_BYTES)
        data = self._stream.read(wanted)
        self._left -= len(data)
        if self._left < 0:
            raise NetdynoError(
                f"{self._archive}: expected at most {self._limit:,} bytes in it, received more.",
                hint="This is not the archive it claims to be.",
            )
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextmanager
def _opened(archive: Path, limit: int) -> Iterator[tarfile.TarFile]:
    """As a stream from front to end, because a gzip has no other way."""
    with archive.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        plain = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if compressed else file
        stream = cast(IO[bytes], _Limited(plain, limit, archive))
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            yield tar


def _refuse_dangerous(archive: Path, member: tarfile.TarInfo) -> None:
    parts = Path(member.name).parts
    if member.name.startswith("/") or ".." in parts:
        raise NetdynoError(f"{archive}: expected paths inside the archive, received '{member.name}'.")
    if not (member.isfile() or member.isdir()):
        kind = "link" if member.islnk() or member.issym() else "device"
        raise NetdynoError(f"{archive}: expected files and folders, received the {kind} '{member.name}'.")


def _check_size(what: str, expected: int, received: int) -> None:
    if expected != received:
        raise NetdynoError(f"{what}: expected {expected:,} bytes, received {received:,}.")


def _write_member(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    stream = tar.extractfile(member)
    if stream is None:
        raise NetdynoError(f"'{member.name}': expected a file in the archive, received something else.")
    draft = path.with_name(f"{path.name}.partial")
    _copy(stream, draft)
    _check_size(f"'{member.name}' as unpacked", member.size, draft.stat().st_size)
    draft.rename(path)


def _copy(stream: IO[bytes] | io.RawIOBase, path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("wb") as out:
        while data := stream.read(BLOCK_BYTES):
            digest.update(data)
            out.write(data)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


@contextmanager
def _told_as_broken(archive: Path) -> Iterator[None]:
    """What the readers of the standard library raise, as one line that names the file; a full disk keeps its name."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError) as error:
        raise NetdynoError(
            f"{archive}: expected a complete archive, received one that is cut off or damaged ({error})."
        ) from error
    except OSError as error:
        raise NetdynoError(f"{error.filename or archive}: {error.strerror or error}.") from error
