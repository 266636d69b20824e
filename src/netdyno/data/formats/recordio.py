"""Records of images in one file, with an index beside it: `train.rec` and `train.idx`.

Where a record contains the mark that begins records, the mark is taken out and the record is stored in parts, flagged
as such. Labels are floats, so there can be at most 2^24 classes."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import LARGEST_BYTES, File
from netdyno.data.codecs.images import check_complete, encoded_of
from netdyno.data.item import SPLITS, About, Item, Source, Writer, check_index
from netdyno.data.names import suffixes_of
from netdyno.data.partial import PartialSplit, Piece, begin_folder, is_unfinished
from netdyno.data.sidecar import about_items, checked_label, sidecar_path, sidecar_piece
from netdyno.data.writer import SplitWriter
from netdyno.errors import NetdynoError

NAME = "recordio"

_MAGIC_WORD = 0xCED7230A
_MAGIC = struct.pack("<I", _MAGIC_WORD)
_PART = struct.Struct("<4sI")  # the mark, then 3 bits of flag and 29 of length
_IMAGE = struct.Struct("<IfQQ")  # labels that follow if they are several, the label, and two halves of a number
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_LENGTH_BITS = 29
_MOST_CLASSES = 2**24


def find(root: Path) -> Sequence[str]:
    return [split for split in SPLITS if (root / f"{split}.rec").is_file() and not is_unfinished(root, NAME, split)]


def open(root: Path, split: str) -> Source:
    """Reads the headers of all records; if there is an index, it must agree."""
    file = File(root / f"{split}.rec")
    places = np.array(list(_walk(file)), np.int64).reshape(-1, 2)
    _check_index(root / f"{split}.idx", places[:, 0])
    labels = (_item(file, int(at), int(end)).label for at, end in places)
    return Records(about=about_items(sidecar_path(root, NAME, split), len(places), labels), file=file, places=places)


def create(root: Path, split: str, about: About) -> Writer:
    """One file, whatever its size."""
    if len(about.classes) > _MOST_CLASSES:
        raise NetdynoError(f"{NAME}: expected at most {_MOST_CLASSES} classes, received {len(about.classes)}.")
    records, index = f"{split}.rec", f"{split}.idx"
    folder = begin_folder(root, NAME, split, [root / records, root / index])

    def layout(partial: PartialSplit, items: Sequence[Item]) -> list[Piece]:
        data = [_record(number, item) for number, item in enumerate(items, partial.done)]
        starts = np.cumsum([partial.sizes.get(records, 0), *map(len, data)]).tolist()[:-1]
        lines = [f"{number}\t{at}\n" for number, at in enumerate(starts, partial.done)]
        return [Piece(name=records, data=b"".join(data)), Piece(name=index, data="".join(lines).encode())]

    return SplitWriter(folder, about, layout, [sidecar_piece(sidecar_path(root, NAME, split), about)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """A split of records; a place is where a record begins and ends, with all its parts."""

    about: About
    file: File
    places: NDArray[np.int64]

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.file.path)
        at, end = self.places[index].tolist()
        item = _item(self.file, at, end)
        checked_label(item.label, self.about, f"{self.file.path}, item {index}, record at byte {at}")
        return item


def _walk(file: File) -> Iterator[tuple[int, int]]:
    """Where each record begins and ends."""
    at = begin = 0
    expected = (_WHOLE, _FIRST)
    while at < file.size:
        flag, length = _part(file, at)
        if flag not in expected:
            raise file.wrong(
                at, f"expected a record's part of kind {' or '.join(map(str, expected))}, received {flag}"
            )
        at += _PART.size + length + -length % 4
        if at > file.size or at - begin > LARGEST_BYTES:
            raise file.wrong(
                begin, f"expected a record of {at - begin} bytes, received {file.size - begin} to the file's end"
            )
        if flag in (_WHOLE, _LAST):
            yield begin, at
            begin = at
        expected = (_WHOLE, _FIRST) if flag in (_WHOLE, _LAST) else (_MIDDLE, _LAST)
    if begin != at:
        raise file.wrong(begin, "expected all parts of a record, received no last one")


def _part(file: File, at: int) -> tuple[int, int]:
    """Flag and length of the part that begins there."""
    magic, word = _PART.unpack(file.read(at, _PART.size))
    if magic != _MAGIC:
        raise file.wrong(at, f"expected the mark of a record ({_MAGIC.hex(' ')}), received {magic.hex(' ')}")
    return word >> _LENGTH_BITS, word & 2**_LENGTH_BITS - 1


def _check_index(path: Path, begins: NDArray[np.int64]) -> None:
    """A number and an offset a line, in any order: framework and reader must mean the same records."""
    if not path.exists():
        return
    try:
        said = sorted(int(line.split("\t")[1]) for line in path.read_text().splitlines())
    except (OSError, ValueError, IndexError) as error:
        raise NetdynoError(
            f"{path}: expected lines with a number, a tab and an offset, received: {error}."
        ) from error
    if len(said) != len(begins):
        raise NetdynoError(f"{path}: expected {len(begins)} records as in {path.stem}.rec, received {len(said)}.")
    for number, (one, other) in enumerate(zip(said, begins.tolist(), strict=True)):
        if one != other:
            raise NetdynoError(f"{path}: expected record {number} at byte {other}, received {one}.")


def _item(file: File, at: int, end: int) -> Item:
    """The item in a record, its parts put together again."""
    where = f"{file.path}, record at byte {at}"
    data = _joined(file.read(at, end - at))
    if len(data) < _IMAGE.size:
        raise NetdynoError(f"{where}: expected the {_IMAGE.size} bytes before an image, received {len(data)}.")
    count, label, number, _ = _IMAGE.unpack_from(data)
    begin = _IMAGE.size + 4 * count
    if count == 1 and len(data) >= begin:
        (label,) = struct.unpack_from("<f", data, _IMAGE.size)
    if count > 1 or not float(label).is_integer():
        raise NetdynoError(f"{where}: expected one label, a whole number, received {count or label}.")
    encoded = data[begin:]
    check_complete(encoded, where)
    return Item(name=str(number), label=int(label), encoded=encoded)


def _joined(record: bytes) -> bytes:
    parts, at = [], 0
    while at < len(record):
        length = _PART.unpack_from(record, at)[1] & 2**_LENGTH_BITS - 1
        at += _PART.size
        parts.append(record[at : at + length])
        at += length + -length % 4
    return _MAGIC.join(parts)


def _record(index: int, item: Item) -> bytes:
    encoded = encoded_of(item)
    suffixes_of(encoded, item.name)
    data = _IMAGE.pack(0, item.label, index, 0) + encoded
    if len(data) >= 2**_LENGTH_BITS:
        raise NetdynoError(f"item {index}: expected less than 512 MiB for a record, received {len(data)} bytes.")
    ends = [*_marks(data), len(data)]
    begins = [0, *(end + 4 for end in ends[:-1])]
    last = len(ends) - 1
    parts = []
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        flag = _WHOLE if last == 0 else _LAST if number == last else _MIDDLE if number else _FIRST
        parts += [_PART.pack(_MAGIC, flag << _LENGTH_BITS | end - begin), data[begin:end]]
    return b"".join(parts) + bytes(-len(data) % 4)


def _marks(data: bytes) -> list[int]:
    """Where it holds the mark that begins a record; only multiples of 4 could be taken for such."""
    words = np.frombuffer(data, "<u4", len(data) // 4)
    return [4 * at for at in np.flatnonzero(words == _MAGIC_WORD).tolist()]
