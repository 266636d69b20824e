"""Tar archives with two files for each item, the image and its label: NAME.jpg and NAME.cls in `train-00000.tar` …"""

from collections.abc import Sequence
from itertools import groupby
from tarfile import BLOCKSIZE, TarInfo

from netdyno.data.codecs.files import File
from netdyno.data.codecs.images import encoded_of, image_item
from netdyno.data.codecs.names import READ_SUFFIXES, numbered_name, own_name
from netdyno.data.codecs.tar import header, members, padding
from netdyno.data.formats.records import Place, RecordFormat
from netdyno.data.item import About, Item
from netdyno.data.writer import ShardLayout

LARGEST_SHARD_BYTES = 256 * 2**20
_LABEL = ".cls"
_LONGEST_LABEL = 20


def _layout(split: str, about: About) -> ShardLayout:
    """Archives of 1,000 items or 256 MiB."""
    return ShardLayout(
        name_of=lambda number: _shard_name(split, number),
        record_of=_record,
        count=about.count,
        largest_bytes=LARGEST_SHARD_BYTES,
        end=bytes(2 * BLOCKSIZE),
    )


def _shard_name(split: str, number: int) -> str:
    return f"{split}-{number:05d}.tar"


def _problem(split: str, names: Sequence[str]) -> str | None:
    """An archive before the last that is missing."""
    numbers = {int(name.removesuffix(".tar").rpartition("-")[2]) for name in names}
    missing = min(set(range(max(numbers))) - numbers, default=None)
    return None if missing is None else f"expected {_shard_name(split, missing)} before {names[-1]}, it is missing"


def _walk(archive: File) -> tuple[list[Place], list[bytes]]:
    """Offset and size of image and label of each item. They are neighbours, with one name up to its first dot."""
    places, names = list[Place](), list[bytes]()
    for key, group in groupby(members(archive), key=_key):
        together = list(group)
        images = [member for member in together if member.name.lower().endswith(READ_SUFFIXES)]
        labels = [member for member in together if member.name.lower().endswith(_LABEL)]
        if (len(images), len(labels)) != (1, 1):
            found = ", ".join(member.name for member in together)[:200]
            raise archive.wrong(together[0].offset, f"expected an image and a label for {key!r}, received {found}")
        places.append([number for member in (*images, *labels) for number in (member.offset_data, member.size)])
        names.append(images[0].name.encode(errors="replace"))
    return places, names


def _item(archive: File, place: Place, name: str) -> Item:
    at, size, _, _ = place
    item = Item(name=own_name(name), label=_label(archive, place), place=f"{name} in {archive.path}, byte {at}")
    return image_item(item, archive.read(at, size))


def _label(archive: File, place: Place) -> int:
    _, _, at, size = place
    text = archive.read(at, size).strip() if size <= _LONGEST_LABEL else b""
    if not text.isdigit():
        raise archive.wrong(at, f"expected the digits of a label in a {_LABEL} file, received something else")
    return int(text)


def _key(member: TarInfo) -> str:
    folder, slash, name = member.name.rpartition("/")
    return folder + slash + name.partition(".")[0]


def _record(index: int, item: Item) -> bytes:
    encoded, label = encoded_of(item), b"%d" % item.label
    name = numbered_name(index, item.name, encoded)
    stem = name.rpartition(".")[0]
    image = (header(name, len(encoded)), encoded, padding(len(encoded)))
    return b"".join((*image, header(stem + _LABEL, len(label)), label, padding(len(label))))


FORMAT = RecordFormat(
    NAME="tar", pattern=r"-\d+\.tar", walk=_walk, read=_item, label=_label, layout=_layout, problem=_problem
)
