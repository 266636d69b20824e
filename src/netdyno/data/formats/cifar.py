"""CIFAR's binary files: for each item a byte with its label, then its red, green and blue planes."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File, read_whole
from netdyno.data.codecs.names import number_name
from netdyno.data.item import SPLITS, About, Images, Item, Labels, check_index, check_range
from netdyno.data.partial import Piece, begin_folder, is_unfinished
from netdyno.data.sidecar import check_labels, checked_label, find_about, sidecar_path, sidecar_piece
from netdyno.data.writer import PixelWriter, raw, shape_to_write
from netdyno.errors import NetdynoError

NAME = "cifar"
ITEMS_PER_FILE = 10_000
SHAPE = (32, 32, 3)  # where no sidecar says another
CLASSES_FILE = "batches.meta.txt"
_NUMBER = re.compile(r"data_batch_([1-9]\d{0,5})\.bin")
_MOST_CLASSES = 256
_LARGEST_CLASSES_BYTES = 2**20
_MOST_UNKNOWN_ITEMS = 10**6  # whose labels are all read
_BLOCK_BYTES = 2**22


def find(root: Path) -> Sequence[str]:
    return [split for split in SPLITS if _paths(root, split) and not is_unfinished(root, NAME, split)]


def open(root: Path, split: str) -> "Cifar":
    """Files of whole items; if there are several, all but the last have 10,000. All labels are checked."""
    known = find_about(sidecar_path(root, NAME, split))
    shape = known.shape if known and known.shape else SHAPE
    files = [File(path) for path in _complete(root, split)]
    count = _count(files, 1 + math.prod(shape))
    if known is None and count > _MOST_UNKNOWN_ITEMS:
        raise files[-1].wrong(
            0, f"expected at most {_MOST_UNKNOWN_ITEMS:,} items without a sidecar, received {count:,}"
        )
    if known and known.count != count:
        raise files[-1].wrong(files[-1].size, f"expected {known.count} items in all files, received {count}")
    labels = [_labels(file, 1 + math.prod(shape)) for file in files]
    classes = known.classes if known else _find_classes(root)
    about = About(
        count=count, classes=classes or _numbers(labels), shape=shape, origin=known.origin if known else None
    )
    for file, values in zip(files, labels, strict=True):
        check_labels(values, about, f"{file.path}, byte", 0, 1 + math.prod(shape))
    return Cifar(about=about, files=tuple(files))


def create(root: Path, split: str, about: About) -> PixelWriter:
    """Files of 10,000 items for training, one file for testing; a sidecar keeps shape, count and classes."""
    folder = begin_folder(root, NAME, split, _paths(root, split))
    shape_to_write(root, about, _MOST_CLASSES)

    def layout(first: int, images: Images, labels: Labels) -> list[Piece]:
        records = np.empty((len(images), 1 + images[0].size), np.uint8)
        records[:, 0] = labels
        records[:, 1:] = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
        return list(_pieces(split, first, records))

    head = [sidecar_piece(sidecar_path(root, NAME, split), about), *_classes_piece(root, about)]
    return PixelWriter(folder, about, layout, head)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cifar:
    """A split in files of 10,000 items."""

    about: About
    files: tuple[File, ...]

    @property
    def place(self) -> Path:
        return self.files[0].path.parent

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.files[0].path.parent)
        number, place = divmod(index, ITEMS_PER_FILE) if len(self.files) > 1 else (0, index)
        height, width, channels = self.about.shape or SHAPE
        size = 1 + height * width * channels
        record = np.frombuffer(self.files[number].read(place * size, size), np.uint8)
        label = checked_label(int(record[0]), self.about, f"{self.files[number].path}, item {place}")
        planes = record[1:].reshape(channels, height, width)
        return Item(name=number_name(index), label=label, pixels=np.ascontiguousarray(planes.transpose(1, 2, 0)))

    def pixels(self, first: int, last: int) -> tuple[Images, Labels]:
        check_range(first, last, self.about, self.files[0].path.parent)
        height, width, channels = self.about.shape or SHAPE
        parts = []
        for file, place, records in self._records(first, last):
            check_labels(records[:, 0], self.about, f"{file.path}, item", place)
            parts.append(records)
        records = parts[0] if len(parts) == 1 else np.concatenate(parts)
        planes = records[:, 1:].reshape(-1, channels, height, width)
        return planes.transpose(0, 2, 3, 1), records[:, 0].astype(np.int32)

    def _records(self, first: int, last: int) -> Iterator[tuple[File, int, NDArray[np.uint8]]]:
        """Labels and planes in the files that have them, each with the number of its first item there."""
        size = 1 + math.prod(self.about.shape or SHAPE)
        per_file = ITEMS_PER_FILE if len(self.files) > 1 else self.about.count
        while first < last:
            number, place = divmod(first, per_file)
            count = min(last - first, per_file - place)
            data = self.files[number].read(place * size, count * size)
            yield self.files[number], place, np.frombuffer(data, np.uint8).reshape(count, size)
            first += count


def _paths(root: Path, split: str) -> list[Path]:
    """In the order of their numbers, whichever are there."""
    if split == "test":
        return [path for path in [root / "test_batch.bin"] if path.is_file()]
    numbered = [(found, path) for path in root.glob("data_batch_*.bin") if (found := _NUMBER.fullmatch(path.name))]
    return [path for _, path in sorted(numbered, key=lambda pair: int(pair[0][1]))]


def _complete(root: Path, split: str) -> list[Path]:
    paths = _paths(root, split)
    for number in range(max(len(paths), 1)):
        name, received = _name(split, number), paths[number].name if paths else "none"
        if received != name:
            raise NetdynoError(f"{root}: expected a file {name}, received {received} in its place.")
    return paths


def _name(split: str, number: int) -> str:
    return "test_batch.bin" if split == "test" else f"data_batch_{number + 1}.bin"


def _count(files: Sequence[File], record_bytes: int) -> int:
    """Items in all files, if these have only whole ones."""
    for number, file in enumerate(files):
        count, rest = divmod(file.size, record_bytes)
        if rest or not count:
            raise file.wrong(file.size - rest, f"expected items of {record_bytes} bytes, received {rest} at the end")
        if number < len(files) - 1 and count != ITEMS_PER_FILE:
            raise file.wrong(
                file.size, f"expected {ITEMS_PER_FILE} items in all files but the last, received {count}"
            )
    return sum(file.size // record_bytes for file in files)


def _labels(file: File, record_bytes: int) -> NDArray[np.uint8]:
    """The first byte of each item, read in blocks: a file may be larger than memory."""
    step = max(1, _BLOCK_BYTES // record_bytes) * record_bytes
    blocks = (file.read(at, min(step, file.size - at)) for at in range(0, file.size, step))
    return np.concatenate([np.frombuffer(block, np.uint8)[::record_bytes].copy() for block in blocks])


def _numbers(labels: Sequence[NDArray[np.uint8]]) -> tuple[str, ...]:
    return tuple(str(number) for number in range(max(int(values.max()) for values in labels) + 1))


def _find_classes(root: Path) -> tuple[str, ...] | None:
    """A name a line; lines without one are no classes."""
    path = root / CLASSES_FILE
    if not path.is_file():
        return None
    try:
        lines = read_whole(str(path), _LARGEST_CLASSES_BYTES).decode().splitlines()
    except UnicodeDecodeError as error:
        raise File(path).wrong(error.start, f"expected the names of classes, received {error.reason}") from error
    return tuple(line.strip() for line in lines if line.strip()) or None


def _classes_piece(root: Path, about: About) -> list[Piece]:
    """For other readers: the sidecar of each split has the names too. Those of another split are left alone."""
    names = "".join(f"{name}\n" for name in about.classes).encode()
    return [] if (root / CLASSES_FILE).exists() else [Piece(name=CLASSES_FILE, data=names, whole=True)]


def _pieces(split: str, first: int, records: NDArray[np.uint8]) -> Iterator[Piece]:
    """The records, cut where the next file begins."""
    done = 0
    while done < len(records):
        number, place = divmod(first + done, ITEMS_PER_FILE) if split == "train" else (0, first + done)
        here = records[done : done + ITEMS_PER_FILE - place] if split == "train" else records[done:]
        yield Piece(name=_name(split, number), data=raw(here))
        done += len(here)
