"""A folder of image files for each class. Labels are the ranks of the classes by name."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import as_one_line, read_whole
from netdyno.data.codecs.images import check_complete, encoded_of, image_item
from netdyno.data.codecs.names import (
    IMAGE_SUFFIXES,
    READ_SUFFIXES,
    UNREAD_SUFFIXES,
    PackedNames,
    number_name,
    suffixes_of,
)
from netdyno.data.item import SPLITS, About, Item, check_index
from netdyno.data.partial import PartialSplit, Piece, begin_folder, is_unfinished
from netdyno.data.sidecar import find_about, sidecar_path, sidecar_piece
from netdyno.data.writer import SplitWriter
from netdyno.errors import NetdynoError

NAME = "folder"
_FOLDERS = {"train": ("train",), "test": ("test", "val", "validation")}  # copies of ImageNet call it val
_READ = tuple(suffix.encode() for suffix in READ_SUFFIXES)
_UNREAD = tuple(suffix.encode() for suffix in UNREAD_SUFFIXES)
_LONGEST_NAME_BYTES = 200  # with number and suffix below the 255 that file systems allow


def find(root: Path) -> Sequence[str]:
    """The splits with a folder of classes; a folder that has the classes itself is a train split."""
    unfinished = [split for split in SPLITS if is_unfinished(root, NAME, split)]
    found = [split for split in SPLITS if _find_folder(root, split) and split not in unfinished]
    return found or (["train"] if not unfinished and _has_images(root) else [])


def open(root: Path, split: str) -> "ImageFolder":
    """Reads the names of all files, and no file."""
    folder = _find_folder(root, split) or (root if split == "train" else root / _FOLDERS[split][0])
    known = find_about(sidecar_path(root, NAME, split)) if folder != root else None
    folders = class_folders(known.classes) if known else _classes(root, folder)
    left_out = Counter(_beside(root, folder))
    names = [_listed(folder / name, left_out) for name in folders]
    counts = [len(images) for images in names]
    _check_counts(folder, dict(zip(folders, counts, strict=True)), known, may_lack=split == "test")
    about = replace(known, count=sum(counts)) if known else About(count=sum(counts), classes=tuple(folders))
    starts = np.cumsum([0, *counts[:-1]])
    packed = PackedNames([name for images in names for name in images])
    return ImageFolder(
        about=about,
        folder=folder,
        folders=tuple(folders),
        starts=starts,
        names=packed,
        left_out={what: number for what, number in left_out.items() if number},
    )


def create(root: Path, split: str, about: About) -> SplitWriter:
    """Names are kept; an item without a file name gets one that fits its content."""
    if about.count < 1:
        raise NetdynoError(f"{root}: expected at least one item to write, received {about.count}.")
    folder = begin_folder(root, NAME, split, [root / name for name in _FOLDERS[split]])
    layout = _Layout(folder=folder, name=_FOLDERS[split][0], folders=class_folders(about.classes))
    writer = SplitWriter(folder, about, layout, [sidecar_piece(sidecar_path(root, NAME, split), about)])
    if not (root / layout.name).exists():  # otherwise an interrupted finish moved it already
        _make_folders(folder / layout.name, layout.folders)
    return writer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImageFolder:
    """A split of image files."""

    about: About
    folder: Path
    folders: tuple[str, ...]
    starts: NDArray[np.int64]  # the number of the first item of each class
    names: PackedNames
    left_out: Mapping[str, int]

    @property
    def place(self) -> Path:
        return self.folder

    def index(self) -> Iterator[bytes]:
        """The names of all files with their sizes."""
        for begin, end, folder in zip(self.starts, [*self.starts[1:], self.about.count], self.folders, strict=True):
            prefix = os.fsencode(self.folder / folder) + b"/"
            with as_one_line(self.folder):
                names = [self.names[number] for number in range(begin, end)]
                lines = [b"%s %d\n" % (name, os.stat(prefix + name).st_size) for name in names]
            yield b"".join((*lines, b"\n"))

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.folder)
        path, label = self._path(index)
        item = Item(name=self.names[index].decode(errors="replace"), label=label, place=path)
        return image_item(item, read_whole(path))

    def _path(self, index: int) -> tuple[str, int]:
        """Where an item lies, and its label."""
        label = int(self.starts.searchsorted(index, "right")) - 1
        return f"{self.folder}/{self.folders[label]}/{os.fsdecode(self.names[index])}", label


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """A file for each item; a name that its class has already gets the number of the item in front."""

    folder: Path
    name: str
    folders: list[str]

    def __call__(self, split: PartialSplit, items: Sequence[Item]) -> Iterator[Piece]:
        taken: set[str] = set()
        for index, item in enumerate(items, split.done):
            encoded = encoded_of(item)
            check_complete(encoded, item.where)
            folder, name = f"{self.name}/{self.folders[item.label]}", file_name(item.name, encoded)
            path = f"{folder}/{name}"
            if path in taken or (self.folder / path).exists():
                path = f"{folder}/{number_name(index)}-{name}"
            taken.add(path)
            yield Piece(name=path, data=encoded, whole=True)


def class_folders(classes: Sequence[str]) -> list[str]:
    """The names of the classes, made safe, with numbers in front if they do not sort like the labels."""
    names = [_safe(name) for name in classes]
    if names == sorted(set(names)):
        return names
    digits = len(str(len(names) - 1))
    return [f"{label:0{digits}d}_{name}" for label, name in enumerate(names)]


def file_name(name: str, encoded: bytes) -> str:
    """The name of the item; the suffix that fits its content is added if it has none of an image."""
    safe = _safe(name)
    return safe if Path(safe).suffix.lower() in IMAGE_SUFFIXES else safe + suffixes_of(encoded, name)[0]


def _safe(name: str) -> str:
    """Nothing that leads to another folder, is hidden, looks unfinished, or is too long for a file system."""
    short = name.encode(errors="replace")[-_LONGEST_NAME_BYTES:].decode(errors="ignore").strip()
    return re.sub(r"[/\\\x00-\x1f]|^\.|\.partial$", "_", short) or "_"


def _make_folders(folder: Path, names: Sequence[str]) -> None:
    """Also for classes without images, so that every reader counts the same classes."""
    with as_one_line(folder, "cannot make a folder: "):
        for name in names:
            (folder / name).mkdir(parents=True, exist_ok=True)


def _find_folder(root: Path, split: str) -> Path | None:
    return next((root / name for name in _FOLDERS[split] if _has_images(root / name)), None)


def _has_images(folder: Path) -> bool:
    """Whether a folder has a folder with an image in it."""
    return any(next(_images(name), None) is not None for name in _subfolders(folder))


def _subfolders(folder: Path) -> list[Path]:
    with as_one_line(folder, "cannot be read: "):
        try:
            with os.scandir(folder) as entries:
                paths = [Path(entry.path) for entry in entries if entry.is_dir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
    return sorted(path for path in paths if not path.name.startswith(".") and path.suffix != ".partial")


def _images(folder: Path) -> Iterator[bytes]:
    """The names of the images in a folder that can be read."""
    return (entry.name for entry in _entries(folder) if entry.name.lower().endswith(_READ) and entry.is_file())


def _entries(folder: Path) -> Iterator[os.DirEntry[bytes]]:
    """What is in a folder and not hidden; nothing if there is none."""
    try:
        with os.scandir(os.fsencode(folder)) as entries:
            yield from (entry for entry in entries if not entry.name.startswith(b"."))
    except FileNotFoundError:
        return
    except OSError as error:
        raise NetdynoError(f"{folder} cannot be read: {error.strerror}.") from error


def _listed(folder: Path, left_out: Counter[str]) -> list[bytes]:
    """The images of a class; those of other kinds, without content or in folders below it are counted as left out."""
    names = []
    for entry in _entries(folder):
        suffix = os.path.splitext(entry.name)[1].lower()
        if suffix in _READ and entry.is_file():
            names.append(entry.name)
        elif entry.is_dir():
            left_out[f"images in folders below {folder.parent}/*/"] += _count_below(entry.path)
        elif suffix in _READ:
            left_out["images that are broken links or pipes"] += 1
        elif suffix in _UNREAD:
            left_out[f"images of a kind that is not read ({suffix.decode()})"] += 1
    return sorted(names)


def _beside(root: Path, folder: Path) -> dict[str, int]:
    """What else could be meant to be in the split: images beside its class folders, and another folder of it."""
    others = [root / name for names in _FOLDERS.values() if folder.name in names for name in names]
    folders = {f"class folders in {path}": len(_subfolders(path)) for path in others if path != folder}
    return {f"images in {folder} outside its class folders": sum(1 for _ in _images(folder)), **folders}


def _count_below(folder: bytes) -> int:
    names = (name for _, _, names in os.walk(folder) for name in names)
    return sum(name.lower().endswith((*_READ, *_UNREAD)) for name in names)


def _classes(root: Path, folder: Path) -> list[str]:
    """The names of the class folders: those of the train split, else labels would shift. Others may lack some."""
    names = [path.name for path in _subfolders(folder)]
    train = _find_folder(root, "train")
    expected = [path.name for path in _subfolders(train)] if train else names
    if odd := sorted({*names} - {*expected}):
        raise NetdynoError(f"{folder}: expected the class folders of {train}, received one more named {odd[0]}.")
    if not names:
        raise NetdynoError(f"{folder}: expected a folder for each class with images in it, received none.")
    return expected


def _check_counts(folder: Path, counts: dict[str, int], known: About | None, *, may_lack: bool) -> None:
    """A class without images is a mistake, unless a sidecar says how many images there are in all; a test split may
    lack some."""
    empty = [name for name, count in counts.items() if not count]
    if known is None and empty and not may_lack:
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        raise NetdynoError(
            f"{folder}: expected images in each class folder, received none in {', '.join(empty[:3])}{more}.",
            hint="Delete it, if there is no such class.",
        )
    if known is not None and known.count != sum(counts.values()):
        without = f" Without images: {', '.join(empty[:3])}." if empty else ""
        raise NetdynoError(f"{folder}: expected {known.count} images, received {sum(counts.values())}.{without}")
