"""Which files lie where in a tar archive? Read header by header, each checked, and nothing is ever unpacked."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

from netdyno.data.codecs.spans import File

BLOCK_BYTES = 512
_ZEROS = bytes(BLOCK_BYTES)
_HEADER = struct.Struct(
    "100s8s8s8s12s12s8s1s100s6s"
)  # name, mode, two owners, size, time, checksum, kind, link, mark
_REGULAR, _FOLDER, _LONG_NAME, _EXTENDED, _GLOBAL = "0", "5", "L", "x", "g"
_LARGEST_NAME_BYTES = 2**16
_CHUNK_BYTES = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file in an archive: its headers begin at `at`, its content at `data_at`."""

    name: str
    kind: str
    at: int
    data_at: int
    size: int

    @property
    def next_at(self) -> int:
        """Where the next one begins."""
        return self.data_at + -(-self.size // BLOCK_BYTES) * BLOCK_BYTES


def members(archive: File) -> Iterator[Member]:
    """The files of an archive. Its end must be marked as such: else some of it may be missing."""
    at = 0
    while (member := member_at(archive, at)) is not None:
        if member.kind == _REGULAR:
            yield member
        at = member.next_at
    for begin in range(at, archive.size, _CHUNK_BYTES):
        if any(archive.read(begin, min(_CHUNK_BYTES, archive.size - begin))):
            raise archive.wrong(begin, f"expected nothing behind the archive's end mark at byte {at}, received data")


def member_at(archive: File, at: int) -> Member | None:
    """The file or folder whose headers begin there; None at the end mark."""
    begin, said = at, dict[str, str]()
    while (member := _plain_member(archive, at)) is not None:
        if member.kind not in (_LONG_NAME, _EXTENDED, _GLOBAL):
            named = replace(member, at=begin, name=said.get("path", member.name)) if begin != at else member
            return _checked(archive, named, said)
        if member.kind != _GLOBAL:
            said |= _said(archive, member)
        at = member.next_at
    return None


def header(name: str, size: int) -> bytes:
    """What stands before a file's content; the time is 0, so that the same items make the same archive."""
    zero, digits = b"0000000", b"%011o"
    begin = _HEADER.pack(
        name.encode(), b"0000644", zero, zero, digits % size, digits % 0, b" " * 8, b"0", b"", b"ustar"
    )
    block = (begin + b"00").ljust(BLOCK_BYTES, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def padding(size: int) -> bytes:
    """What fills a file's last block."""
    return bytes(-size % BLOCK_BYTES)


def _plain_member(archive: File, at: int) -> Member | None:
    """What a single header says."""
    block = archive.read(at, BLOCK_BYTES)
    if block == _ZEROS:
        return None
    if _number(archive, at, block[148:156]) != sum(block[:148]) + sum(block[156:]) + 8 * 0x20:
        raise archive.wrong(at, "expected a file's header, received a block whose checksum is wrong")
    name, folder = (block[begin:end].partition(b"\0")[0] for begin, end in ((0, 100), (345, 500)))
    if block[257:263] == b"ustar\0" and folder:
        name = folder + b"/" + name
    kind = chr(block[156]).replace("\0", _REGULAR).replace("7", _REGULAR)
    size = _number(archive, at, block[124:136])
    return Member(name=name.decode(errors="replace"), kind=kind, at=at, data_at=at + BLOCK_BYTES, size=size)


def _number(archive: File, at: int, field: bytes) -> int:
    """Octal digits, or binary where these do not suffice."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError as error:
        raise archive.wrong(at, f"expected octal digits in a header, received {field!r}") from error


def _said(archive: File, member: Member) -> dict[str, str]:
    """What a header that belongs to the next one says of it."""
    if member.size > _LARGEST_NAME_BYTES:
        raise archive.wrong(member.at, f"expected a file's name, received {member.size} bytes")
    data = archive.read(member.data_at, member.size)
    if member.kind == _LONG_NAME:
        return {"path": data.rstrip(b"\0").decode(errors="replace")}
    lines = (line.partition(b" ")[2].partition(b"=") for line in data.split(b"\n"))
    return {key.decode(errors="replace"): value.decode(errors="replace") for key, _, value in lines if key}


def _checked(archive: File, member: Member, said: dict[str, str]) -> Member:
    """The member, if it is a file or folder that stays in its place and fits into the archive."""
    if "size" in said or any(key.startswith("GNU.sparse") for key in said):
        raise archive.wrong(member.at, f"expected a plain file, received {member.name!r} in a form that is not read")
    if member.kind not in (_REGULAR, _FOLDER):
        raise archive.wrong(
            member.at, f"expected a file, received {member.name!r}, a link or device (type {member.kind!r})"
        )
    if member.name.startswith("/") or ".." in member.name.split("/"):
        raise archive.wrong(member.at, f"expected a name inside the archive, received {member.name!r}")
    if member.size > archive.size - member.data_at:
        left = archive.size - member.data_at
        raise archive.wrong(member.at, f"expected {member.size} bytes of {member.name!r}, received {left}")
    return member
