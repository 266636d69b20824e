"""ImageNet's own archives: a tar with a tar for each class, and a tar of validation images. Read only."""

import re
from collections.abc import Sequence
from pathlib import Path
from tarfile import TarInfo

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File
from netdyno.data.codecs.images import image_item
from netdyno.data.codecs.names import PackedNames
from netdyno.data.codecs.tar import members
from netdyno.data.formats.records import Place, Records, places_of
from netdyno.data.item import About, Item
from netdyno.data.sidecar import check_labels
from netdyno.errors import NetdynoError

NAME = "ilsvrc"
ARCHIVES = {"train": "ILSVRC2012_img_train.tar", "test": "ILSVRC2012_img_val.tar"}
OWN_LABELS = "val_labels.txt"  # WNIDs, or numbers from 0 by the WNIDs' order
KIT_LABELS = "ILSVRC2012_validation_ground_truth.txt"  # the development kit's numbers: from 1, in an order of its own
_LARGEST_LABELS_BYTES = 2**26
_CLASS = re.compile(r"(n\d{8})\.tar")
_WNID = re.compile(r"n\d{8}")
_Image = tuple[str, int, int]  # name, offset, size


def find(root: Path) -> Sequence[str]:
    return [split for split, name in ARCHIVES.items() if (root / name).is_file()]


def open(root: Path, split: str) -> Records:
    """Reads all headers of the archive."""
    return _open_train(root) if split == "train" else _open_validation(root)


class _Part(File):
    """A file in an archive, read as if it were alone."""

    def __init__(self, archive: File, member: TarInfo) -> None:
        super().__init__(archive.path / member.name)
        self._archive, self._at, self._length = archive, member.offset_data, member.size

    @property
    def size(self) -> int:
        return self._length

    def read(self, offset: int, length: int) -> bytes:
        if length > self.size - offset:
            raise self.wrong(offset, f"expected {length} bytes, received {max(self.size - offset, 0)} to its end")
        return self._archive.read(self._at + offset, length)


def _open_train(root: Path) -> Records:
    archive = File(root / ARCHIVES["train"])
    classes = _classes(archive)
    images = [_images(archive, member) for member in classes.values()]
    labels = np.repeat(np.arange(len(images), dtype=np.int32), [len(part) for part in images])
    about = About(count=len(labels), classes=tuple(classes))
    return _archived(about, archive, [image for part in images for image in part], labels)


def _open_validation(root: Path) -> Records:
    archive = File(root / ARCHIVES["test"])
    images = sorted((_plain(member), member.offset_data, member.size) for member in members(archive))
    if not images:
        raise archive.wrong(0, "expected images, received an archive without any")
    train = File(root / ARCHIVES["train"])
    known = tuple(_classes(train)) if train.path.is_file() else ()
    classes, labels = _labels(root, known, len(images))
    return _archived(About(count=len(images), classes=classes), archive, images, labels)


def _archived(about: About, archive: File, images: list[_Image], labels: NDArray[np.int32]) -> Records:
    places = [(at, size, label) for (_, at, size), label in zip(images, labels.tolist(), strict=True)]
    names = PackedNames([name.encode(errors="replace") for name, _, _ in images])
    return Records(about=about, files=(archive,), places=places_of(places), read=_item, names=names)


def _item(archive: File, place: Place, name: str) -> Item:
    at, size, label = place
    item = Item(name=name, label=label, place=f"{name} at byte {at} of {archive.path}")
    return image_item(item, archive.read(at, size))


def _classes(archive: File) -> dict[str, TarInfo]:
    """The tars of the classes by WNID, sorted: the rank of a class is its label."""
    found: dict[str, TarInfo] = {}
    for member in members(archive):
        match = _CLASS.fullmatch(_plain(member))
        if match is None or match[1] in found:
            message = f"expected a tar for each class as n01440764.tar, received {member.name!r}"
            raise archive.wrong(member.offset, message)
        found[match[1]] = member
    if not found:
        raise archive.wrong(0, "expected a tar for each class, received an archive without any")
    return dict(sorted(found.items()))


def _images(archive: File, member: TarInfo) -> list[_Image]:
    """The images of a class, with their offsets in the outer archive."""
    part, begin = _Part(archive, member), member.offset_data
    images = [(_plain(image), begin + image.offset_data, image.size) for image in members(part)]
    if not images:
        raise archive.wrong(member.offset, f"expected images in {member.name!r}, received none")
    return images


def _plain(member: TarInfo) -> str:
    return member.name.rpartition("/")[2]


def _labels(root: Path, known: tuple[str, ...], count: int) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The classes, and the labels of the validation images in the order of their names."""
    path = next((root / name for name in (OWN_LABELS, KIT_LABELS) if (root / name).is_file()), None)
    if path is None or (path.name == KIT_LABELS and known):
        names = OWN_LABELS if known else f"{OWN_LABELS} or {KIT_LABELS}"
        received = "the numbers of the kit, which are in an order of its own" if path else "none"
        raise NetdynoError(
            f"{root}: expected labels of the validation images in {names}, received {received}.",
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
    odd = next(((number, line) for number, line in enumerate(lines, 1) if line not in ranks), None)
    if odd:
        raise NetdynoError(f"{path}, line {odd[0]}: expected one of {len(ranks)} WNIDs, received {odd[1][:40]!r}.")
    return np.array([ranks[line] for line in lines], np.int32)


def _numbered(path: Path, lines: Sequence[str], known: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    first = 1 if path.name == KIT_LABELS else 0
    labels = np.array([_number(path, number, line) - first for number, line in enumerate(lines, 1)], np.int32)
    classes = known or tuple(str(number + first) for number in range(labels.max() + 1))
    check_labels(labels, About(count=len(lines), classes=classes), f"{path}, line", 1)
    return classes, labels


def _number(path: Path, number: int, line: str) -> int:
    if not re.fullmatch(r"\d{1,5}", line):
        raise NetdynoError(f"{path}, line {number}: expected a WNID or a number, received {line[:40]!r}.")
    return int(line)
