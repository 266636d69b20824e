"""Which files lie where in a tar archive? `tarfile` reads the headers; nothing is unpacked."""

import struct
import tarfile
from collections.abc import Iterator
from typing import IO, cast

from netdyno.data.codecs.files import File

_HEADER = struct.Struct("100s8s8s8s12s12s8s1s100s6s")  # name, mode, owners, size, time, checksum, type, link, magic
_ZEROS = bytes(tarfile.BLOCKSIZE)
_LARGEST_HEADER_BYTES = 2**16
_LARGEST_PADDING_BYTES = 2**20  # after the end mark; tools pad to 10 KiB
_DAMAGE = (tarfile.TarError, ValueError, OverflowError, IndexError, RecursionError)


def members(archive: File) -> Iterator[tarfile.TarInfo]:
    """The files of an archive. An archive without its end mark is refused: some of it may be missing."""
    stream, end = cast(IO[bytes], _Headers(archive)), 0
    try:
        with tarfile.open(fileobj=stream, mode="r:", encoding="utf-8", errors="replace") as tar:
            while (member := tar.next()) is not None:
                tar.members.clear()  # type: ignore[attr-defined]  # it would keep a gigabyte of them for ImageNet
                _check(archive, member)
                end = tar.offset
                if member.isfile():
                    yield member
    except _DAMAGE as error:
        raise archive.wrong(
            end, f"expected the header of a file, received: {error or type(error).__name__}"
        ) from error
    _check_end(archive, end)


def header(name: str, size: int) -> bytes:
    """What precedes the content of a file; without a time, so that the same items make the same archive.

    Not `TarInfo.tobuf`, which takes five times as long.
    """
    zero, digits = b"0000000", b"%011o"
    begin = _HEADER.pack(
        name.encode(), b"0000644", zero, zero, digits % size, digits % 0, b" " * 8, b"0", b"", b"ustar"
    )
    block = (begin + b"00").ljust(tarfile.BLOCKSIZE, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def padding(size: int) -> bytes:
    """What fills the last block of a file."""
    return bytes(-size % tarfile.BLOCKSIZE)


class _Headers:
    """An archive as `tarfile` reads it: headers only, so a read of more than 64 KiB is due to a damaged one."""

    def __init__(self, archive: File) -> None:
        self._archive, self._at = archive, 0

    def tell(self) -> int:
        return self._at

    def seek(self, at: int) -> None:
        self._at = at

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _LARGEST_HEADER_BYTES:
            raise self._archive.wrong(self._at, f"expected the header of a file, received one of {size} bytes")
        at, left = self._at, max(0, self._archive.size - self._at)
        self._at += min(size, left)
        if size == 1:  # it only asks whether the byte before the next header is there
            return bytes(min(1, left))
        return self._archive.read(at, min(size, left))


def _check(archive: File, member: tarfile.TarInfo) -> None:
    """Refuse what is no plain file or folder inside the archive."""
    name, left, wrong = member.name, archive.size - member.offset_data, ""
    if "size" in member.pax_headers:
        wrong = f"a plain file, received {name!r} in a form that is not read"
    elif not (member.isfile() or member.isdir()) or member.issparse():
        wrong = f"a file, received {name!r}, a link or device (type {member.type.decode(errors='replace')!r})"
    elif name.startswith("/") or ".." in name.split("/"):
        wrong = f"a name inside the archive, received {name!r}"
    elif not 0 <= member.size <= left:
        wrong = f"{member.size} bytes of {name!r}, received {left}"
    if wrong:
        raise archive.wrong(member.offset, f"expected {wrong}")


def _check_end(archive: File, end: int) -> None:
    """`tarfile` takes a damaged or missing header for the end, so look at what is there."""
    if archive.read(end, len(_ZEROS)) != _ZEROS:
        raise archive.wrong(end, "expected the header of a file, received a block whose checksum is wrong")
    left = archive.size - end
    if left > _LARGEST_PADDING_BYTES or any(archive.read(end, left)):
        raise archive.wrong(end, f"expected nothing after the archive's end mark, received {left} bytes")
