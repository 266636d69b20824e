"""Records of images in one file, with an index beside it: `train.rec` and `train.idx`.

Where a record contains the mark that begins records, the mark is taken out and the record is stored in parts, flagged
as such. Labels are floats, so there can be at most 2^24 classes."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from netdyno.data.codecs.files import LARGEST_BYTES, File, read_whole
from netdyno.data.codecs.images import encoded_of, image_item
from netdyno.data.codecs.names import suffixes_of
from netdyno.data.formats.records import Place, RecordFormat
from netdyno.data.item import About, Item
from netdyno.data.partial import PartialSplit, Piece
from netdyno.data.writer import Layout
from netdyno.errors import NetdynoError

_MAGIC_WORD = 0xCED7230A
_MAGIC = struct.pack("<I", _MAGIC_WORD)
_PART = struct.Struct("<4sI")  # the mark, then 3 bits of flag and 29 of length
_IMAGE = struct.Struct("<IfQQ")  # labels that follow if they are several, the label, and two halves of a number
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_LENGTH_BITS = 29
_MOST_CLASSES = 2**24
_LONGEST_INDEX_LINE = 42  # bytes: two numbers of 64 bits, a tab and the end


def _walk(file: File) -> tuple[list[Place], list[bytes]]:
    """Where each record begins and ends, with all its parts; if there is an index, it must agree."""
    places: list[Place] = list(_records(file))
    _check_index(file.path.with_suffix(".idx"), [begin for begin, _ in places])
    return places, []


def _records(file: File) -> Iterator[tuple[int, int]]:
    at = begin = 0
    expected = (_WHOLE, _FIRST)
    while at < file.size:
        flag, length = _part(file, at)
        if flag not in expected:
            kinds = " or ".join(map(str, expected))
            raise file.wrong(at, f"expected a record's part of kind {kinds}, received {flag}")
        at += _PART.size + length + -length % 4
        if at > file.size or at - begin > LARGEST_BYTES:
            left = file.size - begin
            raise file.wrong(begin, f"expected a record of {at - begin} bytes, received {left} to the file's end")
        expected = (_MIDDLE, _LAST)
        if flag in (_WHOLE, _LAST):
            yield begin, at
            begin, expected = at, (_WHOLE, _FIRST)
    if begin != at:
        raise file.wrong(begin, "expected all parts of a record, received no last one")


def _part(file: File, at: int) -> tuple[int, int]:
    """Flag and length of the part that begins there."""
    magic, word = _PART.unpack(file.read(at, _PART.size))
    if magic != _MAGIC:
        raise file.wrong(at, f"expected the mark of a record ({_MAGIC.hex(' ')}), received {magic.hex(' ')}")
    return word >> _LENGTH_BITS, word & 2**_LENGTH_BITS - 1


def _check_index(path: Path, begins: Sequence[int]) -> None:
    """A number and an offset a line, in any order: framework and reader must mean the same records."""
    if not path.exists():
        return
    try:
        text = read_whole(str(path), _LONGEST_INDEX_LINE * (len(begins) + 1)).decode()
        said = sorted(int(line.split("\t")[1]) for line in text.splitlines())
    except (ValueError, IndexError) as error:
        expected = "expected lines with a number, a tab and an offset"
        raise NetdynoError(f"{path}: {expected}, received: {error}.") from error
    if said != begins:
        odd = min({*said} ^ {*begins}, default=0)
        raise NetdynoError(f"{path}: expected the {len(begins)} offsets of {path.stem}.rec, received others ({odd}).")


def _item(file: File, place: Place, _: str) -> Item:
    """The item in a record, its parts put together again."""
    at, end = place
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
    return image_item(Item(name=str(number), label=int(label), place=where), data[begin:])


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


def _layout(split: str, about: About) -> Layout:
    """One file, whatever its size, and its index."""
    if len(about.classes) > _MOST_CLASSES:
        raise NetdynoError(f"recordio: expected at most {_MOST_CLASSES} classes, received {len(about.classes)}.")
    records, index = f"{split}.rec", f"{split}.idx"

    def layout(partial: PartialSplit, items: Sequence[Item]) -> list[Piece]:
        data = [_record(number, item) for number, item in enumerate(items, partial.done)]
        starts = np.cumsum([partial.sizes.get(records, 0), *map(len, data)]).tolist()[:-1]
        lines = [f"{number}\t{at}\n" for number, at in enumerate(starts, partial.done)]
        return [Piece(name=records, data=b"".join(data)), Piece(name=index, data="".join(lines).encode())]

    return layout


FORMAT = RecordFormat(
    NAME="recordio",
    pattern=r"\.rec",
    walk=_walk,
    read=_item,
    label=lambda file, place: _item(file, place, "").label,
    layout=_layout,
    beside=".idx",
)
