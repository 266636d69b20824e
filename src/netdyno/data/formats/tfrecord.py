"""Shards of checksummed records, each an Example with an encoded image: `train-00000-of-00010` and so on.

Labels in `image/class/label` begin at 0, without a background class before them."""

import functools
import struct
from collections.abc import Sequence
from dataclasses import replace

from netdyno.data.codecs.files import LARGEST_BYTES, File
from netdyno.data.codecs.images import encoded_of, image_item
from netdyno.data.codecs.names import suffixes_of
from netdyno.data.codecs.optional import optional_module
from netdyno.data.codecs.protobuf import bytes_field, bytes_head, is_number, signed, spans, varint, varints
from netdyno.data.formats.records import Place, RecordFormat
from netdyno.data.item import About, Item
from netdyno.data.writer import ITEMS_PER_SHARD, ShardLayout
from netdyno.errors import NetdynoError

_HEAD = struct.Struct("<QI")  # length, its checksum
_TAIL = struct.Struct("<I")
_BYTES_LIST, _INT64_LIST = 1, 3  # of a Feature
_NAME, _FEATURE = 1 << 3 | 2, 2 << 3 | 2  # the fields of an entry, with their kind
_FORMATS = {".jpg": b"JPEG", ".png": b"PNG"}


def _layout(split: str, about: About) -> ShardLayout:
    """Shards of 1,000 items; the last may have fewer."""
    shards = max(1, -(-about.count // ITEMS_PER_SHARD))
    return ShardLayout(
        name_of=lambda number: _shard_name(split, number, shards),
        record_of=lambda _, item: _record(_example(item)),
        count=about.count,
    )


def _shard_name(split: str, number: int, count: int) -> str:
    return f"{split}-{number:05d}-of-{count:05d}"


def _problem(split: str, names: Sequence[str]) -> str | None:
    """A shard that is missing, or that is left over from another set."""
    count = int(names[0][-5:])
    expected = {_shard_name(split, number, count) for number in range(count)}
    odd = min(expected ^ {*names}, default=None)
    verb = "is missing" if odd in expected else "does not belong to them"
    return f"expected {count} shards, received {len(names)}: {odd} {verb}" if odd else None


def _walk(file: File) -> tuple[list[Place], list[bytes]]:
    """Offset and length of the records; lengths have checksums of their own."""
    at, places = 0, list[Place]()
    while at < file.size:
        head = file.read(at, _HEAD.size)
        length, checksum = _HEAD.unpack(head)
        if _masked_checksum(head[:8]) != checksum:
            raise file.wrong(at, "expected the length of a record, received one whose checksum is wrong")
        whole = _HEAD.size + length + _TAIL.size
        if whole > min(file.size - at, LARGEST_BYTES):
            raise file.wrong(at, f"expected a record of {whole} bytes, received {file.size - at} to the file's end")
        places.append((at, length))
        at += whole
    return places, []


def _item(file: File, place: Place, name: str) -> Item:
    """The item in a record; `name` is used if the record has none."""
    at, length = place
    data = file.read(at + _HEAD.size, length + _TAIL.size)
    if _masked_checksum(data[:length]) != _TAIL.unpack_from(data, length)[0]:
        raise file.wrong(at, f"expected a record of {length} bytes, received one whose checksum is wrong")
    features = _Features(data, length, f"{file.path}, record at byte {at}")
    if "image/filename" in features.by_name:
        name = features.bytes_of("image/filename").decode(errors="replace").rpartition("/")[2]
    item = image_item(Item(name=name, label=0, place=features.where), features.bytes_of("image/encoded"))
    return replace(item, label=features.number_of("image/class/label"))


class _Features:
    """Where the features of an Example lie in its bytes, by name."""

    def __init__(self, data: bytes, length: int, where: str) -> None:
        self.by_name: dict[str, tuple[int, int]] = {}
        self.where, self._data = where, data
        for features in self._inside((0, length), 1):
            for entry in self._inside(features, 1):
                parts = {tag: (begin, end) for tag, begin, end in spans(data, *entry, where)}
                if _NAME in parts and _FEATURE in parts:
                    self.by_name[data[slice(*parts[_NAME])].decode(errors="replace")] = parts[_FEATURE]

    def bytes_of(self, name: str) -> bytes:
        """The one byte string of a feature."""
        values = [value for values in self._lists(name, _BYTES_LIST) for value in self._inside(values, 1)]
        if len(values) != 1:
            raise NetdynoError(f"{self.where}: expected one byte string as {name}, received {len(values)}.")
        return self._data[slice(*values[0])]

    def number_of(self, name: str) -> int:
        """The one whole number of a feature, packed or not."""
        values = [
            value
            for begin, end in self._lists(name, _INT64_LIST)
            for _, first, last in spans(self._data, begin, end, self.where)
            for value in varints(self._data[first:last], self.where)
        ]
        if len(values) != 1:
            raise NetdynoError(f"{self.where}: expected one whole number as {name}, received {len(values)}.")
        return signed(values[0])

    def _lists(self, name: str, kind: int) -> list[tuple[int, int]]:
        if name not in self.by_name:
            known = ", ".join(sorted(self.by_name))[:200] or "none"
            raise NetdynoError(f"{self.where}: expected a feature {name}, received {known}.")
        return self._inside(self.by_name[name], kind)

    def _inside(self, span: tuple[int, int], number: int) -> list[tuple[int, int]]:
        """The messages or byte strings in a message's fields of this number."""
        found = [
            (tag, (begin, end)) for tag, begin, end in spans(self._data, *span, self.where) if tag >> 3 == number
        ]
        if any(is_number(tag) for tag, _ in found):
            raise NetdynoError(f"{self.where}: expected bytes in field {number}, received a number.")
        return [inside for _, inside in found]


def _example(item: Item) -> bytes:
    encoded = encoded_of(item)
    image_format = _FORMATS[suffixes_of(encoded, item.name)[0]]
    features = (
        (b"image/class/label", _INT64_LIST, varint(item.label)),
        (b"image/encoded", _BYTES_LIST, encoded),
        (b"image/filename", _BYTES_LIST, item.name.encode()),
        (b"image/format", _BYTES_LIST, image_format),
    )
    parts = [part for name, kind, value in features for part in (_feature_head(name, kind, len(value)), value)]
    return bytes_field(1, *parts)


@functools.lru_cache(maxsize=2**16)
def _feature_head(name: bytes, kind: int, length: int) -> bytes:
    """All that precedes the value of a feature: it is the innermost of five messages, and so is never copied."""
    value = bytes_head(1, length)
    values = bytes_head(kind, len(value) + length) + value
    feature = bytes_head(2, len(values) + length) + values
    entry = bytes_field(1, name) + feature
    return bytes_head(1, len(entry) + length) + entry


def _record(example: bytes) -> bytes:
    length = struct.pack("<Q", len(example))
    return b"".join((length, _TAIL.pack(_masked_checksum(length)), example, _TAIL.pack(_masked_checksum(example))))


def _masked_checksum(data: bytes) -> int:
    """CRC-32C, rotated and shifted: a checksum over data that holds checksums would be weak."""
    crc: int = optional_module("google_crc32c", "google-crc32c", "for the checksums of records").value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


FORMAT = RecordFormat(
    NAME="tfrecord",
    pattern=r"-\d{5}-of-\d{5}",
    walk=_walk,
    read=_item,
    label=lambda file, place: _item(file, place, "").label,
    layout=_layout,
    problem=_problem,
)
