"""How are files unpacked from an untrusted archive? Only those published, and only if every byte is as published."""

import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from netdyno.data.catalog import Content
from netdyno.data.codecs.files import as_one_line
from netdyno.errors import NetdynoError

BLOCK_BYTES = 1 << 20
SLACK_BYTES = 1 << 20  # for headers, and for files that are not published


def unpack_tar(archive: Path, wanted: Iterable[Content], into: Path) -> None:
    """Unpack files from a tar, compressed or not, wherever in it they are.

    Paths that lead out of the archive, links, devices, and an archive that is much larger than the wanted files are
    refused, although nothing else would be written.
    """
    missing = {content.name: content for content in wanted}
    limit = 2 * sum(content.bytes for content in missing.values()) + SLACK_BYTES
    with _damage_as_one_line(archive), _opened(archive, limit) as tar:
        for member in tar:
            _refuse_dangerous(archive, member)
            name = Path(member.name).name
            if member.isfile() and name in missing:
                stream = cast(IO[bytes], tar.extractfile(member))
                _save(stream, missing.pop(name), into, f"'{member.name}' in {archive}")
    if missing:
        raise NetdynoError(f"{archive}: expected a file '{min(missing)}' in it, received an archive without one.")


def unpack_gzip(packed: Path, content: Content, into: Path) -> None:
    with _damage_as_one_line(packed), gzip.open(packed) as stream:
        _save(cast(IO[bytes], stream), content, into, str(packed))


def copy_file(path: Path, content: Content, into: Path) -> None:
    with as_one_line(path), path.open("rb") as stream:
        _save(stream, content, into, str(path))


def md5_of(path: Path) -> str:
    """The digest that is published with datasets: against damage, not against forgery."""
    return _digest(path, "md5")


def is_as_published(path: Path, content: Content) -> bool:
    """Whether a file is there and has the right size, and the right digest if one is known."""
    with as_one_line(path):
        if not path.is_file() or path.stat().st_size != content.bytes:
            return False
    algorithm, expected = content.digest
    return expected in ("", _digest(path, algorithm))


def _digest(path: Path, algorithm: str) -> str:
    with as_one_line(path), path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


def _save(stream: IO[bytes], content: Content, into: Path, origin: str) -> None:
    """Write a file durably. It gets its name if it is what was published, as far as a digest is known."""
    algorithm, published = content.digest
    draft, digest, size = into / f"{content.name}.partial", hashlib.new(algorithm, usedforsecurity=False), 0
    with draft.open("wb") as out:
        while size <= content.bytes and (data := stream.read(BLOCK_BYTES)):
            digest.update(data)
            size += out.write(data)
        out.flush()
        os.fsync(out.fileno())
    if size != content.bytes or published not in ("", digest.hexdigest()):
        draft.unlink()
        whole = f" with the {algorithm.upper()} {published}" if size == content.bytes else ""
        expected = f"{content.bytes:,} bytes{whole}"
        raise NetdynoError(f"{origin}: expected {expected}, received {size:,} with {digest.hexdigest()}.")
    draft.rename(into / content.name)


@dataclass(slots=True)
class _Limited:
    """A stream that refuses to return more than `limit` bytes, against decompression bombs."""

    stream: IO[bytes]
    limit: int
    archive: Path
    received: int = 0

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.received += len(data)
        if self.received > self.limit:
            raise NetdynoError(
                f"{self.archive}: expected at most {self.limit:,} bytes in it, received more.",
                hint="This is not the archive it claims to be.",
            )
        return data


@contextmanager
def _opened(archive: Path, limit: int) -> Iterator[tarfile.TarFile]:
    """Open a tar as a stream: a gzip can only be read from front to end."""
    with archive.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        plain = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if compressed else file
        with tarfile.open(fileobj=cast(IO[bytes], _Limited(plain, limit, archive)), mode="r|") as tar:
            yield tar


def _refuse_dangerous(archive: Path, member: tarfile.TarInfo) -> None:
    if member.name.startswith("/") or ".." in Path(member.name).parts:
        raise NetdynoError(f"{archive}: expected paths inside the archive, received '{member.name}'.")
    if not (member.isfile() or member.isdir()):
        kind = "link" if member.islnk() or member.issym() else "device"
        raise NetdynoError(f"{archive}: expected files and folders, received the {kind} '{member.name}'.")


@contextmanager
def _damage_as_one_line(archive: Path) -> Iterator[None]:
    with as_one_line(archive):
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError) as error:
            expected = "expected a complete archive, received one that is cut off or damaged"
            raise NetdynoError(f"{archive}: {expected} ({error}).") from error
