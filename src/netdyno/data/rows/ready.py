"""How rows get into the files that a worker opens: made once for what they are made of, and kept."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from netdyno.data.item import SPLITS, About
from netdyno.data.packing import PACKED, Ready
from netdyno.data.rows.split import Rows

SUFFIX = ".npz"
ABOUT = "about.json"


def ready_rows(home: Path, source: str, made_of: str, make: Callable[[], Rows]) -> Ready:
    """The files of a source; `made_of` says in words all that they depend on."""
    folder = home / "rows" / hashlib.sha256(made_of.encode()).hexdigest()[:20]
    if not (folder / ABOUT).is_file():
        _write(folder, make())
    known = msgspec.json.decode((folder / ABOUT).read_bytes(), type=_About)
    about = About(count=known.count, classes=("",))
    return Ready(
        source=source,
        format=PACKED,
        folder=folder,
        about=about,
        digests=known.digests,
        suffix=SUFFIX,
        simple=known.simple,
    )


class _About(msgspec.Struct, frozen=True, kw_only=True):
    count: int
    simple: dict[str, float]
    digests: dict[str, str]


def _write(folder: Path, rows: Rows) -> None:
    """The description comes last: without it the files are made again."""
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for split, arrays in zip(SPLITS, (rows.train, rows.test), strict=True):
        part = folder / f".{split}.{os.getpid()}{SUFFIX}"
        np.savez(part, **dict(arrays))  # type: ignore[arg-type]  # the stub takes names for its one option
        digests[split] = hashlib.sha256(part.read_bytes()).hexdigest()[:32]
        part.replace(folder / f"{split}{SUFFIX}")
    about = _About(count=rows.count(), simple=dict(rows.simple), digests=digests)
    part = folder / f".{ABOUT}.{os.getpid()}"
    part.write_bytes(msgspec.json.encode(about))
    part.replace(folder / ABOUT)
