"""What is known of a split whose files tell neither its count nor its classes? It is kept beside them, as JSON."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netdyno.data.item import About, Item, Labels, facts
from netdyno.data.partial import Piece
from netdyno.errors import NetdynoError

_LARGEST_BYTES = 2**26
_LARGEST_LABEL = 10**6  # in files that say nothing of their classes; beyond it a number is hardly a label


def about_piece(name: str, about: About) -> Piece:
    """The sidecar, as a file of the split."""
    return Piece(name=name, data=json.dumps(facts(about)).encode(), whole=True)


def about_items(path: Path, count: int, labels: Iterable[int]) -> About:
    """What the sidecar says if it agrees with the count; without one, labels are looked through and classes are
    numbers."""
    known = find_about(path)
    if known is None:
        return About(count=count, classes=_numbers(path, labels))
    if known.count != count:
        message = f"{path.parent}: expected {known.count} items as {path.name} says, received {count}."
        raise NetdynoError(message, hint=f"Delete {path.name} if it belongs to other files.")
    return known


def find_about(path: Path) -> About | None:
    """What a sidecar says; None where there is none, as beside files that others wrote."""
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise NetdynoError(f"{path}: expected at most {_LARGEST_BYTES} bytes, received {path.stat().st_size}.")
        said = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise NetdynoError(f"{path}: expected JSON, received what cannot be read: {error}.") from error
    return _about(path, said)


def checked_label(label: int, about: About, where: str) -> int:
    """The label, if there is such a class."""
    if not 0 <= label < len(about.classes):
        raise NetdynoError(f"{where}: expected a label from 0 to {len(about.classes) - 1}, received {label}.")
    return label


def checked_labels(labels: NDArray[np.integer[Any]], about: About, where: str) -> Labels:
    """Many at a time."""
    for label in (int(labels.min()), int(labels.max())):
        checked_label(label, about, where)
    return labels.astype(np.int32)


def check_labels(items: Sequence[Item], about: About, first: int) -> None:
    """Before they are written, `first` being the number of the first."""
    for index, item in enumerate(items, first):
        checked_label(item.label, about, f"item {index} ('{item.name}')")


def _about(path: Path, said: Any) -> About:
    shape = said.get("shape") if isinstance(said, dict) else None
    match said:
        case {"count": int(count), "classes": [*classes]} if (
            count >= 0 and all(isinstance(name, str) for name in classes) and (shape is None or _is_shape(shape))
        ):
            return About(count=count, classes=tuple(classes), shape=shape and tuple(shape))
    raise NetdynoError(f"{path}: expected count, classes and perhaps a shape, received {str(said)[:80]}.")


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and len(shape) == 3 and all(isinstance(n, int) and n > 0 for n in shape)


def _numbers(path: Path, labels: Iterable[int]) -> tuple[str, ...]:
    highest = -1
    for index, label in enumerate(labels):
        if not 0 <= label <= _LARGEST_LABEL:
            where = f"{path.parent}, item {index} of {path.stem}"
            raise NetdynoError(f"{where}: expected a label from 0 to {_LARGEST_LABEL}, received {label}.")
        highest = max(highest, label)
    return tuple(str(number) for number in range(highest + 1))
