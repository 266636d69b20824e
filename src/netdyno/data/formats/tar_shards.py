"""Tar archives with two files for each item, the image and its label: NAME.jpg and NAME.cls in `train-00000.tar` …"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tarfile import BLOCKSIZE, TarInfo

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File
from netdyno.data.codecs.images import check_complete, encoded_of
from netdyno.data.codecs.tar import header, members, padding
from netdyno.data.item import SPLITS, About, Item, Source, Writer, check_index
from netdyno.data.names import IMAGE_SUFFIXES, PackedNames, numbered_name, own_name
from netdyno.data.partial import begin_folder, is_unfinished
from netdyno.data.sidecar import about_items, checked_label, sidecar_path, sidecar_piece
from netdyno.data.writer import ShardLayout, SplitWriter
from netdyno.errors import NetdynoError

NAME = "tar"
LARGEST_SHARD_BYTES = 256 * 2**20
_LABEL = ".cls"
_LONGEST_LABEL = 20


def find(root: Path) -> Sequence[str]:
    return [split for split in SPLITS if _present(root, split) and not is_unfinished(root, NAME, split)]


def open(root: Path, split: str) -> Source:
    """Reads the headers of all archives, and the labels if no sidecar names the classes."""
    archives = tuple(File(path) for path in _complete(_present(root, split), root, split))
    names, places = list[bytes](), list[tuple[int, int, int, int, int]]()
    for number, archive in enumerate(archives):
        for image, label in _pairs(archive):
            names.append(image.name.encode(errors="replace"))
            places.append((number, image.offset_data, image.size, label.offset_data, label.size))
    labels = (_label(archives[number], at, size) for number, _, _, at, size in places)
    return Archives(
        about=about_items(sidecar_path(root, NAME, split), len(places), labels),
        archives=archives,
        names=PackedNames(names),
        places=np.array(places, np.int64).reshape(-1, 5),
    )


def create(root: Path, split: str, about: About) -> Writer:
    """Archives of 1,000 items or 256 MiB."""
    folder = begin_folder(root, NAME, split, _present(root, split))
    layout = ShardLayout(
        name_of=lambda number: _shard_name(split, number),
        record_of=_record,
        count=about.count,
        largest_bytes=LARGEST_SHARD_BYTES,
        end=bytes(2 * BLOCKSIZE),
    )
    return SplitWriter(folder, about, layout, [sidecar_piece(sidecar_path(root, NAME, split), about)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Archives:
    """A split in archives; a place is the archive, then offset and size of image and label."""

    about: About
    archives: tuple[File, ...]
    names: PackedNames
    places: NDArray[np.int64]

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.archives[0].path)
        number, image_at, image_size, label_at, label_size = self.places[index].tolist()
        archive, name = self.archives[number], self.names[index].decode()
        label = _label(archive, label_at, label_size)
        checked_label(label, self.about, f"{archive.path}, item {index}, byte {label_at}")
        encoded = archive.read(image_at, image_size)
        check_complete(encoded, f"{name} in {archive.path}, byte {image_at}")
        return Item(name=own_name(name), label=label, encoded=encoded)


def _shard_name(split: str, number: int) -> str:
    return f"{split}-{number:05d}.tar"


def _present(root: Path, split: str) -> list[Path]:
    pattern = re.compile(split + r"-\d+\.tar")
    return sorted(path for path in root.glob(f"{split}-*.tar") if pattern.fullmatch(path.name))


def _complete(paths: list[Path], root: Path, split: str) -> list[Path]:
    """The archives, if none before the last is missing."""
    if not paths:
        raise NetdynoError(f"{root}: expected archives {_shard_name(split, 0)} and so on, received none.")
    numbers = {int(path.stem.rpartition("-")[2]) for path in paths}
    if missing := set(range(max(numbers) + 1)) - numbers:
        name = _shard_name(split, min(missing))
        raise NetdynoError(f"{root}: expected {name} before {paths[-1].name}, it is missing.")
    return paths


def _pairs(archive: File) -> Iterator[tuple[TarInfo, TarInfo]]:
    """Image and label of each item. They are neighbours, with the same name up to its first dot."""
    for key, group in groupby(members(archive), key=_key):
        together = list(group)
        images = [member for member in together if member.name.lower().endswith(IMAGE_SUFFIXES)]
        labels = [member for member in together if member.name.lower().endswith(_LABEL)]
        if (len(images), len(labels)) != (1, 1):
            found = ", ".join(member.name for member in together)[:200]
            raise archive.wrong(together[0].offset, f"expected an image and a label for {key!r}, received {found}")
        yield images[0], labels[0]


def _key(member: TarInfo) -> str:
    folder, slash, name = member.name.rpartition("/")
    return folder + slash + name.partition(".")[0]


def _label(archive: File, at: int, size: int) -> int:
    text = archive.read(at, size).strip() if size <= _LONGEST_LABEL else b""
    if not text.isdigit():
        raise archive.wrong(at, f"expected the digits of a label in a {_LABEL} file, received something else")
    return int(text)


def _record(index: int, item: Item) -> bytes:
    encoded, label = encoded_of(item), b"%d" % item.label
    name = numbered_name(index, item.name, encoded)
    stem = name.rpartition(".")[0]
    image = (header(name, len(encoded)), encoded, padding(len(encoded)))
    return b"".join((*image, header(stem + _LABEL, len(label)), label, padding(len(label))))
