"""Images in a folder, and a text file with path and label of each: `train_images/`, `train_map.txt`.

Paths begin with `.../`, which its framework takes for the folder of the map, so the split can be moved."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File, read_whole
from netdyno.data.codecs.images import check_complete, encoded_of
from netdyno.data.item import SPLITS, About, Item, Source, Writer, check_index
from netdyno.data.names import numbered_name, own_name
from netdyno.data.partial import PartialSplit, Piece, begin_folder, is_unfinished
from netdyno.data.sidecar import about_items, checked_label, sidecar_piece
from netdyno.data.writer import SplitWriter
from netdyno.errors import NetdynoError

NAME = "cntk_map"

_HERE = ".../"
_IMAGES_PER_FOLDER = 1000
_LARGEST_MAP_BYTES = 2**31
_LONGEST_LINE = 2**14


def find(root: Path) -> Sequence[str]:
    there = [split for split in SPLITS if (root / _map_name(split)).is_file()]
    return [split for split in there if not is_unfinished(root, NAME, split)]


def open(root: Path, split: str) -> Source:
    file = File(root / _map_name(split))
    lines = _lines(file)
    labels = (_entry(file, number, line)[1] for number, line in enumerate(lines))
    return Mapped(about=about_items(_sidecar(root, split), len(lines), labels), file=file, lines=lines)


def create(root: Path, split: str, about: About) -> Writer:
    """Folders of 1,000 images."""
    images = f"{split}_images"
    folder = begin_folder(root, NAME, split, [root / _map_name(split), root / images])

    def layout(partial: PartialSplit, items: Sequence[Item]) -> list[Piece]:
        pieces, lines = list[Piece](), list[str]()
        for index, item in enumerate(items, partial.done):
            encoded = encoded_of(item)
            name = f"{images}/{index // _IMAGES_PER_FOLDER:05d}/{numbered_name(index, item.name, encoded)}"
            pieces.append(Piece(name=name, data=encoded, whole=True))
            lines.append(f"{_HERE}{name}\t{item.label}\n")
        return [*pieces, Piece(name=_map_name(split), data="".join(lines).encode())]

    return SplitWriter(folder, about, layout, [sidecar_piece(_sidecar(root, split), about)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mapped:
    """A split of image files; a line is its offset in the map and its length."""

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


def _map_name(split: str) -> str:
    return f"{split}_map.txt"


def _sidecar(root: Path, split: str) -> Path:
    return root / f"{split}_map.json"


def _lines(file: File) -> NDArray[np.int64]:
    """Offset and length of each line. The last must end too: without its end it may be cut."""
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
