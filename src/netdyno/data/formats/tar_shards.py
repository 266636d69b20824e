"""Tar archives in which each image has a file and its label another: NAME.jpg and NAME.cls in `train-00000.tar` …"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.images import check_complete, encoded_of
from netdyno.data.codecs.spans import File
from netdyno.data.codecs.tar_index import BLOCK_BYTES, Member, header, member_at, members, padding
from netdyno.data.item import SPLITS, About, Item, Source, Writer
from netdyno.data.names import numbered_name, own_name
from netdyno.data.numbered import check_index
from netdyno.data.partial import partial_folder, refuse_existing
from netdyno.data.shards import Shards, ShardWriter
from netdyno.data.sidecar import about_items, check_labels, checked_label
from netdyno.errors import NetdynoError

NAME = "tar"

LARGEST_SHARD_BYTES = 256 * 2**20
_IMAGES = (".jpg", ".jpeg", ".png")
_LABEL = ".cls"
_LONGEST_LABEL = 20


def find(root: Path) -> Sequence[str]:
    """The splits of which there are archives."""
    return [split for split in SPLITS if _present(root, split) and not partial_folder(root, NAME, split).exists()]


def open(root: Path, split: str) -> Source:
    """Goes through the headers of all archives."""
    archives = tuple(File(path) for path in _complete(_present(root, split), root, split))
    found = [(number, *pair) for number, archive in enumerate(archives) for pair in _pairs(archive)]
    places = np.array(found, np.int64).reshape(-1, 3)
    labels = (_label(archives[number], _member(archives[number], at)) for number, _, at in found)
    return Archives(about=about_items(root / _sidecar(split), len(found), labels), archives=archives, places=places)


def create(root: Path, split: str, about: About) -> Writer:
    """Archives of 1,000 items or 256 MiB."""
    folder = partial_folder(root, NAME, split)
    refuse_existing(folder, _present(root, split))
    shards = Shards(
        name_of=lambda number: _shard_name(split, number),
        sidecar=_sidecar(split),
        largest_bytes=LARGEST_SHARD_BYTES,
        end=bytes(2 * BLOCK_BYTES),
    )
    return ArchiveWriter(ShardWriter(folder, about, shards), about)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Archives:
    """A split in archives; a place is the archive and where the headers of image and label begin."""

    about: About
    archives: tuple[File, ...]
    places: NDArray[np.int64]

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.archives[0].path)
        number, image_at, label_at = self.places[index].tolist()
        archive = self.archives[number]
        image = _member(archive, image_at)
        label = _label(archive, _member(archive, label_at))
        checked_label(label, self.about, f"{archive.path}, item {index}, byte {label_at}")
        encoded = archive.read(image.data_at, image.size)
        check_complete(encoded, f"{image.name} in {archive.path}, byte {image_at}")
        return Item(name=own_name(image.name), label=label, encoded=encoded)


class ArchiveWriter:
    """Turns items into pairs of files."""

    wants_pixels = False

    def __init__(self, shards: ShardWriter, about: About) -> None:
        self._shards, self._about = shards, about

    @property
    def done(self) -> int:
        return self._shards.done

    def write(self, items: Sequence[Item]) -> None:
        check_labels(items, self._about, self.done)
        self._shards.write([_pair(index, item) for index, item in enumerate(items, self.done)])

    def finish(self) -> None:
        self._shards.finish()

    def close(self) -> None:
        self._shards.close()


def _sidecar(split: str) -> str:
    return f"{split}.{NAME}.json"


def _shard_name(split: str, number: int) -> str:
    return f"{split}-{number:05d}.tar"


def _present(root: Path, split: str) -> list[Path]:
    pattern = re.compile(split + r"-\d+\.tar")
    return sorted(path for path in root.glob(f"{split}-*.tar") if pattern.fullmatch(path.name))


def _complete(paths: list[Path], root: Path, split: str) -> list[Path]:
    """The archives, if none between the first and the last is missing."""
    if not paths:
        raise NetdynoError(f"{root}: expected archives {_shard_name(split, 0)} and so on, received none.")
    numbers = {int(path.stem.rpartition("-")[2]) for path in paths}
    if missing := set(range(max(numbers) + 1)) - numbers:
        raise NetdynoError(
            f"{root}: expected {_shard_name(split, min(missing))} before {paths[-1].name}, it is missing."
        )
    return paths


def _pairs(archive: File) -> Iterator[tuple[int, int]]:
    """Where image and label of each item begin. They are neighbours, with the same name up to its first dot."""
    for key, group in groupby(members(archive), key=_key):
        together = list(group)
        images = [member.at for member in together if member.name.lower().endswith(_IMAGES)]
        labels = [member.at for member in together if member.name.lower().endswith(_LABEL)]
        if (len(images), len(labels)) != (1, 1):
            found = ", ".join(member.name for member in together)[:200]
            raise archive.wrong(together[0].at, f"expected an image and a label for {key!r}, received {found}")
        yield images[0], labels[0]


def _key(member: Member) -> str:
    folder, slash, name = member.name.rpartition("/")
    return folder + slash + name.partition(".")[0]


def _member(archive: File, at: int) -> Member:
    member = member_at(archive, at)
    if member is None:
        raise archive.wrong(at, "expected a file's header as before, received the end of the archive")
    return member


def _label(archive: File, member: Member) -> int:
    """Decimal digits."""
    if member.size <= _LONGEST_LABEL:
        text = archive.read(member.data_at, member.size).strip()
        if text.isdigit():
            return int(text)
    raise archive.wrong(member.data_at, f"expected a label's digits in {member.name}, received something else")


def _pair(index: int, item: Item) -> bytes:
    encoded, label = encoded_of(item), b"%d" % item.label
    name = numbered_name(index, item.name, encoded)
    stem = name.rpartition(".")[0]
    image = (header(name, len(encoded)), encoded, padding(len(encoded)))
    return b"".join((*image, header(stem + _LABEL, len(label)), label, padding(len(label))))
