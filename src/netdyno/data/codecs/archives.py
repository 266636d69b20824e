"""How are files unpacked from an untrusted archive? Only those requested, and no more bytes than expected."""

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
SLACK_BYTES = 1 << 20  # for headers, and for files that were not requested


def unpack_tar(archive: Path, wanted: Mapping[str, int], into: Path) -> None:
    """Unpack the files in `wanted` (name without folders: size in bytes) from a tar, compressed or not.

    Paths that lead out of the archive, links, devices, and an archive that is much larger than the wanted files are
    refused, although nothing else would be written.
    """
    missing = dict(wanted)
    limit = 2 * sum(wanted.values()) + SLACK_BYTES
    with _as_one_line(archive), _opened(archive, limit) as tar:
        for member in tar:
            _refuse_dangerous(archive, member)
            name = Path(member.name).name
            if member.isfile() and name in missing:
                _check_size(f"'{member.name}' in {archive}", missing.pop(name), member.size)
                _write_member(tar, member, into / name)
    if missing:
        raise NetdynoError(f"{archive}: expected a file '{min(missing)}' in it, received an archive without one.")


def unpack_gzip(packed: Path, into: Path, size_bytes: int) -> str:
    """Unpack a file of this size; returns its MD5."""
    with _as_one_line(packed), _Limited(cast(IO[bytes], gzip.open(packed)), size_bytes, packed) as stream:
        digest = _copy(stream, into)
    _check_size(f"{packed} unpacked", size_bytes, into.stat().st_size)
    return digest


def copy_file(path: Path, into: Path) -> str:
    """Copy a file, durably; returns its MD5."""
    with _as_one_line(path), path.open("rb") as stream:
        return _copy(stream, into)


def md5_of(path: Path) -> str:
    """The digest that is published with datasets: against damage, not against forgery."""
    with _as_one_line(path), path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


class _Limited(io.RawIOBase):
    """A stream that refuses to return more than `limit` bytes, against decompression bombs."""

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
    """Open a tar as a stream: a gzip can only be read from front to end."""
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
def _as_one_line(archive: Path) -> Iterator[None]:
    """Turn errors of the standard library and of the operating system into one line that names the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError) as error:
        raise NetdynoError(
            f"{archive}: expected a complete archive, received one that is cut off or damaged ({error})."
        ) from error
    except OSError as error:
        raise NetdynoError(f"{error.filename or archive}: {error.strerror or error}.") from error
