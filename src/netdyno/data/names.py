"""Under which name does an image lie among thousands of others? Under its number, then its own name made harmless."""

import re

from netdyno.errors import NetdynoError

_SIGNATURES = {b"\xff\xd8\xff": (".jpg", ".jpeg"), b"\x89PNG\r\n\x1a\n": (".png",)}
_LONGEST_STEM = 80  # with number and suffix below the 100 bytes that an archive's header has for it


def suffixes_of(encoded: bytes, name: str) -> tuple[str, ...]:
    """Those that files with this content have, the customary one first."""
    for signature, suffixes in _SIGNATURES.items():
        if encoded.startswith(signature):
            return suffixes
    begin = encoded[:4].hex(" ") or "nothing"
    raise NetdynoError(f"image {name}: expected a JPEG or PNG, received bytes that begin {begin}.")


def numbered_name(index: int, name: str, encoded: bytes | None) -> str:
    """`00000012_cat.jpg`, of pixels without suffix: unique, sorted as the items are, and with no separator or second
    dot that could be taken for something else."""
    suffixes = suffixes_of(encoded, name) if encoded is not None else ()
    stem, dot, suffix = name.rpartition(".")
    kept = dot + suffix if dot + suffix.lower() in suffixes else ""
    harmless = re.sub(r"[^A-Za-z0-9_-]", "_", stem if kept else name)[-_LONGEST_STEM:]
    return f"{index:08d}_{harmless}{kept or ''.join(suffixes[:1])}"


def own_name(numbered: str) -> str:
    """The name that an item had before it was numbered; a name that never was stays."""
    return re.sub(r"^\d{8,}_(?=.)", "", numbered.rpartition("/")[2])
