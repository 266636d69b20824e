"""Images in a folder and a text that maps them to labels, path and number a line: `train_map.txt`, `train_images/`.

Paths begin with `.../`, which its framework takes for the folder of the map, so that all of it can be moved."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.images import check_complete, encoded_of
from netdyno.data.codecs.spans import File, read_whole
from netdyno.data.item import SPLITS, About, Item, Source, Writer, facts
from netdyno.data.names import numbered_name, own_name
from netdyno.data.numbered import check_index
from netdyno.data.partial import PartialSplit, Piece, partial_folder, refuse_existing
from netdyno.data.sidecar import about_items, about_piece, check_labels, checked_label
from netdyno.errors import NetdynoError

NAME = "cntk_map"

_HERE = ".../"
_IMAGES_A_FOLDER = 1000
_LARGEST_MAP_BYTES = 2**31
_LONGEST_LINE = 2**14


def find(root: Path) -> Sequence[str]:
    """The splits of which there is a map."""
    there = [split for split in SPLITS if (root / _map_name(split)).is_file()]
    return [split for split in there if not partial_folder(root, NAME, split).exists()]


def open(root: Path, split: str) -> Source:
    """Goes through the map."""
    file = File(root / _map_name(split))
    lines = _lines(file)
    labels = (_entry(file, number, line)[1] for number, line in enumerate(lines))
    return Mapped(about=about_items(root / _sidecar(split), len(lines), labels), file=file, lines=lines)


def create(root: Path, split: str, about: About) -> Writer:
    """Folders of 1,000 images."""
    folder = partial_folder(root, NAME, split)
    refuse_existing(folder, [root / _map_name(split), root / _images_name(split)])
    return MapWriter(PartialSplit(folder, facts(about)), split, about)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mapped:
    """A split of image files; a line is where it begins in the map and how long it is."""

    about: About
    file: File
    lines: NDArray[np.int64]

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.file.path)
        path, label = _entry(self.file, index, self.lines[index])
        checked_label(label, self.about, f"{self.file.path}, line {index + 1}")
        encoded = read_whole(path)
        check_complete(encoded, f"{path}, line {index + 1} of {self.file.path}")
        return Item(name=own_name(path), label=label, encoded=encoded)


class MapWriter:
    """Writes a file for each image, and the map."""

    wants_pixels = False

    def __init__(self, split: PartialSplit, name: str, about: About) -> None:
        self._split, self._name, self._about = split, name, about

    @property
    def done(self) -> int:
        return self._split.done

    def write(self, items: Sequence[Item]) -> None:
        if not items:
            return
        check_labels(items, self._about, self.done)
        images = [self._image(index, item) for index, item in enumerate(items, self.done)]
        lines = [f"{_HERE}{image.name}\t{item.label}\n" for image, item in zip(images, items, strict=True)]
        self._split.write([*images, self._map("".join(lines))], len(images))

    def finish(self) -> None:
        if not self._split.state:
            empty = [self._map("")] if not self.done else []
            self._split.write([*empty, about_piece(_sidecar(self._name), self._about)], 0, {"ended": True})
        self._split.finish()

    def close(self) -> None:
        self._split.close()

    def _image(self, index: int, item: Item) -> Piece:
        encoded = encoded_of(item)
        folder = f"{_images_name(self._name)}/{index // _IMAGES_A_FOLDER:05d}"
        return Piece(name=f"{folder}/{numbered_name(index, item.name, encoded)}", data=encoded, whole=True)

    def _map(self, text: str) -> Piece:
        name = _map_name(self._name)
        return Piece(name=name, data=text.encode(), at=self._split.sizes.get(name, 0))


def _map_name(split: str) -> str:
    return f"{split}_map.txt"


def _images_name(split: str) -> str:
    return f"{split}_images"


def _sidecar(split: str) -> str:
    return f"{split}_map.json"


def _lines(file: File) -> NDArray[np.int64]:
    """Beginning and length of each line; the last may lack its end, and be cut, so it must not."""
    if file.size > _LARGEST_MAP_BYTES:
        raise NetdynoError(f"{file.path}: expected a map below {_LARGEST_MAP_BYTES} bytes, received {file.size}.")
    step = 2**24
    chunks = [np.frombuffer(file.read(at, min(step, file.size - at)), np.uint8) for at in range(0, file.size, step)]
    ends = np.flatnonzero(np.concatenate(chunks) == ord("\n")) if chunks else np.zeros(0, np.int64)
    if file.size and (not len(ends) or ends[-1] != file.size - 1):
        raise file.wrong(file.size, "expected the end of a line, received the end of the file")
    begins = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    return np.stack([begins, ends - begins], axis=1).astype(np.int64)


def _entry(file: File, number: int, line: NDArray[np.int64]) -> tuple[str, int]:
    """Path and label of a line."""
    begin, length = line.tolist()
    text = file.read(begin, min(length, _LONGEST_LINE)).decode(errors="surrogateescape").rstrip("\r")
    path, tab, label = text.partition("\t")
    if not path or not tab or not label.isascii() or not label.strip().isdigit() or "\0" in path or len(label) > 20:
        shown = text[:80].encode("ascii", "backslashreplace").decode()
        raise NetdynoError(f"{file.path}, line {number + 1}: expected a path, a tab and a label, received {shown!r}.")
    return os.path.join(os.path.dirname(file.path), path.removeprefix(_HERE)), int(label)
