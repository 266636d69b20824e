"""How a split lies in ImageNet's own archives: a tar of the classes' tars, a tar of validation images. Only read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.images import check_complete
from netdyno.data.codecs.spans import File
from netdyno.data.codecs.tar_index import Member, member_at, members
from netdyno.data.item import About, Item
from netdyno.data.numbered import check_index
from netdyno.data.pixel_writer import PixelWriter
from netdyno.data.sidecar import checked_label
from netdyno.errors import NetdynoError

NAME = "ilsvrc"
ARCHIVES = {"train": "ILSVRC2012_img_train.tar", "test": "ILSVRC2012_img_val.tar"}
OWN_LABELS = "val_labels.txt"  # WNIDs, or numbers from 0 by the WNIDs' order
KIT_LABELS = "ILSVRC2012_validation_ground_truth.txt"  # the development kit's numbers: from 1, in an order of its own
_LARGEST_LABELS_BYTES = 2**26
_CLASS = re.compile(r"(n\d{8})\.tar")
_WNID = re.compile(r"n\d{8}")


def find(root: Path) -> Sequence[str]:
    """The splits whose archive is there."""
    return [split for split, name in ARCHIVES.items() if (root / name).is_file()]


def open(root: Path, split: str) -> "Archived":
    """Goes through all headers of the archive."""
    return _open_train(root) if split == "train" else _open_validation(root)


def create(root: Path, split: str, about: About) -> PixelWriter:
    """Nobody needs new archives of this kind."""
    raise NetdynoError(f"{root}: expected a format that can be written, received {NAME}.", hint="Use tar instead.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Archived:
    """A split in an archive, by where the headers of its images begin."""

    about: About
    archive: File
    places: NDArray[np.int64]
    labels: NDArray[np.int32]

    def item(self, index: int) -> Item:
        """Its file, byte for byte."""
        check_index(index, self.about, self.archive.path)
        member = member_at(self.archive, int(self.places[index]))
        if member is None:
            raise self.archive.wrong(int(self.places[index]), "expected an image, received an archive that changed")
        encoded = self.archive.read(member.data_at, member.size)
        check_complete(encoded, f"{member.name} at byte {member.data_at} of {self.archive.path}")
        return Item(name=_plain(member), label=int(self.labels[index]), encoded=encoded)


class _Part(File):
    """A file in an archive, read as if it were alone."""

    def __init__(self, archive: File, member: Member) -> None:
        super().__init__(archive.path / member.name)
        self._archive, self._member = archive, member

    def __reduce__(self) -> tuple[Any, ...]:
        return _Part, (self._archive, self._member)

    @property
    def size(self) -> int:
        return self._member.size

    def read(self, offset: int, length: int) -> bytes:
        """Exactly those bytes."""
        if length > self.size - offset:
            raise self.wrong(offset, f"expected {length} bytes, received {max(self.size - offset, 0)} to its end")
        return self._archive.read(self._member.data_at + offset, length)


def _open_train(root: Path) -> Archived:
    archive = File(root / ARCHIVES["train"])
    classes = _classes(archive)
    places = [np.array(list(_places(archive, member)), np.int64) for member in classes.values()]
    labels = np.repeat(np.arange(len(places), dtype=np.int32), [len(part) for part in places])
    about = About(count=len(labels), classes=tuple(classes))
    return Archived(about=about, archive=archive, places=np.concatenate(places), labels=labels)


def _open_validation(root: Path) -> Archived:
    archive = File(root / ARCHIVES["test"])
    images = sorted(members(archive), key=_plain)
    if not images:
        raise archive.wrong(0, "expected images, received an archive without any")
    train = File(root / ARCHIVES["train"])
    known = tuple(_classes(train)) if train.path.is_file() else ()
    classes, labels = _labels(root, known, len(images))
    about = About(count=len(images), classes=classes)
    places = np.array([member.at for member in images], np.int64)
    return Archived(about=about, archive=archive, places=places, labels=labels)


def _classes(archive: File) -> dict[str, Member]:
    """The classes' tars by WNID, sorted: a class's rank is its label."""
    found: dict[str, Member] = {}
    for member in members(archive):
        match = _CLASS.fullmatch(_plain(member))
        if match is None or match[1] in found:
            raise archive.wrong(
                member.at, f"expected a tar for each class as n01440764.tar, received {member.name!r}"
            )
        found[match[1]] = member
    if not found:
        raise archive.wrong(0, "expected a tar for each class, received an archive without any")
    return dict(sorted(found.items()))


def _places(archive: File, member: Member) -> Iterator[int]:
    """Where the headers of a class's images begin in the whole archive."""
    count = 0
    for image in members(_Part(archive, member)):
        yield member.data_at + image.at
        count += 1
    if not count:
        raise archive.wrong(member.at, f"expected images in {member.name!r}, received none")


def _plain(member: Member) -> str:
    return member.name.rpartition("/")[2]


def _labels(root: Path, known: tuple[str, ...], count: int) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The classes, and the validation images' labels in the order of their names."""
    path = next((root / name for name in (OWN_LABELS, KIT_LABELS) if (root / name).is_file()), None)
    if path is None:
        raise NetdynoError(
            f"{root}: expected labels of the validation images in {OWN_LABELS} or {KIT_LABELS}, received neither.",
            hint=f"Write the WNID of each image, a line each, into {OWN_LABELS}.",
        )
    lines = _lines(path)
    if len(lines) != count:
        raise NetdynoError(f"{path}: expected {count} lines, one for each image, received {len(lines)}.")
    if _WNID.fullmatch(lines[0]):
        classes = known or tuple(sorted({line for line in lines if _WNID.fullmatch(line)}))
        return classes, _ranks(path, lines, classes)
    return _numbered(path, lines, known)


def _lines(path: Path) -> list[str]:
    file = File(path)
    if not 0 < file.size <= _LARGEST_LABELS_BYTES:
        raise file.wrong(0, f"expected a label a line, received {file.size} bytes")
    text = file.read(0, file.size).decode(errors="replace")
    return [line.strip() for line in text.rstrip("\r\n").split("\n")]


def _ranks(path: Path, lines: Sequence[str], classes: tuple[str, ...]) -> NDArray[np.int32]:
    ranks = {name: rank for rank, name in enumerate(classes)}
    for number, line in enumerate(lines, 1):
        if line not in ranks:
            raise NetdynoError(
                f"{path}, line {number}: expected one of {len(classes)} WNIDs, received {line[:40]!r}."
            )
    return np.array([ranks[line] for line in lines], np.int32)


def _numbered(path: Path, lines: Sequence[str], known: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    if path.name == KIT_LABELS and known:
        raise NetdynoError(
            f"{path}: expected WNIDs beside the training images, received numbers in the kit's own order.",
            hint=f"Write the WNID of each image, a line each, into {OWN_LABELS}.",
        )
    first = 1 if path.name == KIT_LABELS else 0
    numbers = [_number(path, number, line) - first for number, line in enumerate(lines, 1)]
    classes = known or tuple(str(number + first) for number in range(max(numbers) + 1))
    labels = [
        checked_label(label, About(count=len(lines), classes=classes), f"{path}, line {number}")
        for number, label in enumerate(numbers, 1)
    ]
    return classes, np.array(labels, np.int32)


def _number(path: Path, number: int, line: str) -> int:
    if not re.fullmatch(r"\d{1,5}", line):
        raise NetdynoError(f"{path}, line {number}: expected a WNID or a number, received {line[:40]!r}.")
    return int(line)
