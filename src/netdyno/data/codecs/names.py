"""How are items named in files? By number, then by their own name with everything unsafe replaced."""

import re

import numpy as np

from netdyno.errors import NetdynoError

_SIGNATURES = {b"\xff\xd8\xff": (".jpg", ".jpeg"), b"\x89PNG\r\n\x1a\n": (".png",)}
IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png")
READ_SUFFIXES = (*IMAGE_SUFFIXES, ".jpe", ".jfif", ".webp", ".bmp", ".gif")
UNREAD_SUFFIXES = (".tif", ".tiff", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".ppm", ".pgm", ".ico", ".svg", ".dng")
_LONGEST_STEM = 80  # with number and suffix below the 100 bytes that a tar header has for it


class PackedNames:
    """A million names in one string: small in memory, and quickly sent to another process."""

    def __init__(self, names: list[bytes]) -> None:
        self._joined = b"".join(names)
        self._ends = np.cumsum(np.array([0, *map(len, names)], np.int64))

    def __getitem__(self, index: int) -> bytes:
        return self._joined[self._ends[index] : self._ends[index + 1]]


def number_name(index: int) -> str:
    """The name of an item in a format that has no names; sorted by name they are sorted by number."""
    return f"{index:08d}"


def suffixes_of(encoded: bytes, name: str) -> tuple[str, ...]:
    """The suffixes for files with this content, the usual one first."""
    for signature, suffixes in _SIGNATURES.items():
        if encoded.startswith(signature):
            return suffixes
    begin = encoded[:4].hex(" ") or "nothing"
    raise NetdynoError(f"image {name}: expected a JPEG or PNG, received bytes that begin {begin}.")


def numbered_name(index: int, name: str, encoded: bytes | None) -> str:
    """`00000012_cat.jpg`, for pixels without suffix: unique, sorted like the items, without a separator or second
    dot that a reader could misinterpret."""
    suffixes = suffixes_of(encoded, name) if encoded is not None else ()
    stem, dot, suffix = name.rpartition(".")
    kept = dot + suffix if dot + suffix.lower() in suffixes else ""
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", stem if kept else name)[-_LONGEST_STEM:]
    return f"{index:08d}_{safe}{kept or ''.join(suffixes[:1])}"


def own_name(numbered: str) -> str:
    """The name that an item had before it was numbered; other names stay as they are."""
    return re.sub(r"^\d{8,}_(?=.)", "", numbered.rpartition("/")[2])
