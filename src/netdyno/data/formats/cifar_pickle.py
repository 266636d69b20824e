"""CIFAR10's archive for Python: pickled batches, unpacked or still in their archive. Read only."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File
from netdyno.data.codecs.gzip_file import GzipFile
from netdyno.data.codecs.names import number_name
from netdyno.data.codecs.safe_pickle import Noted, read_pickle, text_of
from netdyno.data.codecs.tar import members
from netdyno.data.item import SPLITS, About, Item, check_index
from netdyno.data.sidecar import checked_label
from netdyno.errors import NetdynoError

NAME = "cifar-pickle"
ARCHIVE = "cifar-10-python.tar.gz"
FOLDER = "cifar-10-batches-py"
SHAPE = (32, 32, 3)
_BATCHES = {"train": tuple(f"data_batch_{number}" for number in range(1, 6)), "test": ("test_batch",)}
_META = "batches.meta"
_LARGEST_BYTES = 2**28  # of a batch; the published ones have 31 MB


def find(root: Path) -> Sequence[str]:
    """The splits whose first batch is there; an archive is not looked into."""
    if (root / ARCHIVE).is_file():
        return SPLITS
    return [split for split in SPLITS if (_loose(root) / _BATCHES[split][0]).is_file()]


def open(root: Path, split: str) -> "PickledCifar":
    files = _archived(root / ARCHIVE) if (root / ARCHIVE).is_file() else _files_in(_loose(root))
    classes = _classes(files, root)
    places = tuple(_place(files, name, root) for name in _BATCHES[split])
    batches = [_batch(place) for place in places]
    about = About(count=sum(len(batch.labels) for batch in batches), classes=classes, shape=SHAPE)
    for place, batch in zip(places, batches, strict=True):
        for index, label in enumerate(batch.labels):
            checked_label(label, about, f"{place.path}, item {index}")
    return PickledCifar(
        about=about, places=places, starts=tuple(accumulate((len(batch.labels) for batch in batches[:-1]), initial=0))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a pickle lies: a whole file, or a part of an unpacked archive."""

    file: File
    name: str
    at: int
    size: int

    @property
    def path(self) -> Path:
        return self.file.path if self.file.path.name == self.name else self.file.path / self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class PickledCifar:
    """A split in several pickles; each process unpickles them once."""

    about: About
    places: tuple[Place, ...]
    starts: tuple[int, ...]  # the number of each batch's first item

    @property
    def place(self) -> Path:
        return self.places[0].file.path.parent

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.places[0].path.parent)
        number = int(np.searchsorted(self.starts, index, "right")) - 1
        batch, place = _batch(self.places[number]), index - self.starts[number]
        planes = batch.planes[place].reshape(SHAPE[2], *SHAPE[:2])
        name = batch.names[place] if batch.names else number_name(index)
        return Item(name=name, label=batch.labels[place], pixels=np.ascontiguousarray(planes.transpose(1, 2, 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    planes: NDArray[np.uint8]  # items × colour, row, column
    labels: list[int]
    names: list[str]


def _loose(root: Path) -> Path:
    return root / FOLDER if (root / FOLDER).is_dir() else root


def _files_in(folder: Path) -> dict[str, Place]:
    names = [*_BATCHES["train"], *_BATCHES["test"], _META]
    files = {name: File(folder / name) for name in names if (folder / name).is_file()}
    return {name: Place(file=file, name=name, at=0, size=file.size) for name, file in files.items()}


def _archived(path: Path) -> dict[str, Place]:
    archive = GzipFile(path, _most_bytes)
    if archive.size > _LARGEST_BYTES:
        raise NetdynoError(f"{path}: expected at most {_LARGEST_BYTES:,} bytes in it, received more.")
    return {
        name: Place(file=archive, name=name, at=member.offset_data, size=member.size)
        for member in members(archive)
        if (name := PurePosixPath(member.name).name)
    }


def _most_bytes(_: bytes) -> int:
    """Of an archive; the published one has 186 MB."""
    return _LARGEST_BYTES


def _place(files: Mapping[str, Place], name: str, root: Path) -> Place:
    if name not in files:
        raise NetdynoError(f"{root}: expected the batch {name}, received {', '.join(sorted(files)) or 'none'}.")
    return files[name]


def _unpickled(place: Place) -> dict[str, Any]:
    if place.size > _LARGEST_BYTES:
        raise NetdynoError(f"{place.path}: expected at most {_LARGEST_BYTES:,} bytes, received {place.size:,}.")
    return read_pickle(place.file.read(place.at, place.size), place.path)


def _classes(files: Mapping[str, Place], root: Path) -> tuple[str, ...]:
    place = _place(files, _META, root)
    names = _unpickled(place).get("label_names")
    if not isinstance(names, list) or not names or not all(isinstance(name, bytes | str) for name in names):
        raise NetdynoError(f"{place.path}: expected a list of label_names, received {str(names)[:80]}.")
    return tuple(text_of(name) for name in names)


@functools.lru_cache(maxsize=len(_BATCHES["train"]) + 1)
def _batch(place: Place) -> _Batch:
    pickled = _unpickled(place)
    data, labels, names = (pickled.get(key) for key in ("data", "labels", "filenames"))
    planes = data.find_bytes() if isinstance(data, Noted) else None
    if planes is None or planes.ndim != 2 or planes.shape[1] != math.prod(SHAPE):
        raise NetdynoError(f"{place.path}: expected data of items × {math.prod(SHAPE)} bytes, received other data.")
    if not isinstance(labels, list) or len(labels) != len(planes) or not all(type(label) is int for label in labels):
        raise NetdynoError(f"{place.path}: expected {len(planes)} labels, one for each image, received others.")
    if names is not None and (not isinstance(names, list) or len(names) != len(planes)):
        raise NetdynoError(f"{place.path}: expected {len(planes)} filenames, one for each image, received others.")
    return _Batch(planes=planes, labels=labels, names=[PurePosixPath(text_of(name)).name for name in names or ()])
