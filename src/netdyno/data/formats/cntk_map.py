"""Images in a folder, and a text file with path and label of each: `train_images/`, `train_map.txt`.

Paths begin with `.../`, which its framework takes for the folder of the map, so the split can be moved."""

import os
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File, read_whole
from netdyno.data.codecs.images import encoded_of, image_item
from netdyno.data.codecs.names import numbered_name, own_name
from netdyno.data.formats.records import Place, RecordFormat
from netdyno.data.item import About, Item
from netdyno.data.partial import PartialSplit, Piece
from netdyno.data.writer import Layout
from netdyno.errors import NetdynoError

_HERE = ".../"
_IMAGES_PER_FOLDER = 1000
_MOST_LINES = 2**24
_LONGEST_LINE = 2**14


def _layout(split: str, _: About) -> Layout:
    """Folders of 1,000 images."""

    def layout(partial: PartialSplit, items: Sequence[Item]) -> list[Piece]:
        pieces, lines = list[Piece](), list[str]()
        for index, item in enumerate(items, partial.done):
            encoded = encoded_of(item)
            folder = f"{split}_images/{index // _IMAGES_PER_FOLDER:05d}"
            name = f"{folder}/{numbered_name(index, item.name, encoded)}"
            pieces.append(Piece(name=name, data=encoded, whole=True))
            lines.append(f"{_HERE}{name}\t{item.label}\n")
        return [*pieces, Piece(name=f"{split}_map.txt", data="".join(lines).encode())]

    return layout


def _walk(file: File) -> tuple[NDArray[np.int64], list[bytes]]:
    """Offset, length and number of each line. The last must end too: without its end it may be cut."""
    ends = np.concatenate([np.zeros(0, np.int64), *_line_ends(file)])
    if file.size and (not len(ends) or ends[-1] != file.size - 1):
        raise file.wrong(file.size, "expected the end of a line, received the end of the file")
    begins = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    return np.stack([begins, ends - begins, np.arange(1, len(ends) + 1)], axis=1), []


def _line_ends(file: File) -> Iterator[NDArray[np.int64]]:
    """Where lines end, in parts. A file without lines, or with too many, is not read any further."""
    count = last = 0
    for at in range(0, file.size, _LONGEST_LINE):
        data = np.frombuffer(file.read(at, min(_LONGEST_LINE, file.size - at)), np.uint8)
        ends = at + np.flatnonzero(data == ord("\n"))
        count += len(ends)
        if not len(ends) and len(data) == _LONGEST_LINE:
            raise file.wrong(last, f"expected the end of a line within {_LONGEST_LINE} bytes, received none")
        if count > _MOST_LINES:
            raise file.wrong(at, f"expected a map of at most {_MOST_LINES:,} lines, received more")
        last = int(ends[-1]) + 1 if len(ends) else last
        yield ends


def _item(file: File, place: Place, _: str) -> Item:
    path, label = _entry(file, place)
    item = Item(name=own_name(path), label=label, place=f"{path}, line {place[2]} of {file.path}")
    return image_item(item, read_whole(path))


def _entry(file: File, place: Place) -> tuple[str, int]:
    """Path and label of a line."""
    begin, length, number = place
    text = file.read(begin, min(length, _LONGEST_LINE)).decode(errors="surrogateescape").rstrip("\r")
    path, tab, label = text.partition("\t")
    if not path or not tab or not label.isascii() or not label.strip().isdigit() or "\0" in path or len(label) > 20:
        shown = text[:80].encode("ascii", "backslashreplace").decode()
        raise NetdynoError(f"{file.path}, line {number}: expected a path, a tab and a label, received {shown!r}.")
    return os.path.join(os.path.dirname(file.path), path.removeprefix(_HERE)), int(label)


FORMAT = RecordFormat(
    NAME="cntk_map",
    pattern=r"_map\.txt",
    walk=_walk,
    read=_item,
    label=lambda file, place: _entry(file, place)[1],
    layout=_layout,
    beside="_images",
    sidecar="_map.json",
)
