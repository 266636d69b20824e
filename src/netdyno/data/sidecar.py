"""What is known of a split whose files hold neither its count nor its classes? A JSON file beside them says it."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import read_whole
from netdyno.data.item import About
from netdyno.data.partial import Piece
from netdyno.errors import NetdynoError

_LARGEST_BYTES = 2**26
_LARGEST_LABEL = 10**6  # where nothing says how many classes there are; a larger number is hardly a label


def sidecar_path(root: Path, format_name: str, split: str) -> Path:
    return root / f"{split}.{format_name}.json"


def sidecar_piece(path: Path, about: About) -> Piece:
    """The sidecar, as a file of the split."""
    return Piece(name=path.name, data=msgspec.json.encode(about), whole=True)


def find_about(path: Path) -> About | None:
    """What a sidecar says; None if there is none, as beside files from other tools."""
    if not os.path.lexists(path):
        return None
    try:
        return msgspec.json.decode(read_whole(str(path), _LARGEST_BYTES), type=About)
    except (ValueError, RecursionError) as error:
        raise NetdynoError(f"{path}: expected JSON with count and classes, received: {error}.") from error


def about_items(path: Path, count: int, labels: Iterable[int]) -> About:
    """What the sidecar says, if it agrees with the count. Without one, labels are read and classes are numbers."""
    known = find_about(path)
    if known is None:
        return About(count=count, classes=_numbered_classes(path, labels))
    if known.count != count:
        message = f"{path.parent}: expected {known.count} items as {path.name} says, received {count}."
        raise NetdynoError(message, hint=f"Delete {path.name} if it belongs to other files.")
    return known


def checked_label(label: int, about: About, where: str) -> int:
    """The label, if there is such a class."""
    if not 0 <= label < len(about.classes):
        raise NetdynoError(f"{where}: expected a label from 0 to {len(about.classes) - 1}, received {label}.")
    return label


def check_labels(labels: NDArray[np.integer[Any]], about: About, where: str, first: int, step: int = 1) -> None:
    """The same for many; an error counts places in steps from `first` on."""
    wrong = np.flatnonzero((labels < 0) | (labels >= len(about.classes)))
    if wrong.size:
        checked_label(int(labels[wrong[0]]), about, f"{where} {first + step * int(wrong[0])}")


def _numbered_classes(path: Path, labels: Iterable[int]) -> tuple[str, ...]:
    highest = -1
    for index, label in enumerate(labels):
        if not 0 <= label <= _LARGEST_LABEL:
            where = f"{path.parent}, item {index} of {path.stem}"
            raise NetdynoError(f"{where}: expected a label from 0 to {_LARGEST_LABEL}, received {label}.")
        highest = max(highest, label)
    return tuple(map(str, range(highest + 1)))
