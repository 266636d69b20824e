"""How a split lies in folders: one for each class, with its images' files. Labels are the classes' ranks by name."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.images import check_complete
from netdyno.data.codecs.spans import read_whole
from netdyno.data.formats.folder_writer import FolderWriter, class_folders
from netdyno.data.item import SPLITS, About, Item
from netdyno.data.numbered import check_index
from netdyno.data.partial import is_unfinished, partial_folder, refuse_existing
from netdyno.data.sidecar import find_about
from netdyno.errors import NetdynoError

NAME = "folder"
SUFFIXES = (".jpg", ".jpeg", ".png")
_FOLDERS = {"train": ("train",), "test": ("test", "val")}  # copies of ImageNet call it val


def find(root: Path) -> Sequence[str]:
    """The splits with a folder of their own that has classes; a folder of classes alone is one to train with."""
    if any(is_unfinished(partial_folder(root, NAME, split)) for split in SPLITS):
        return [split for split in SPLITS if _is_finished(root, split)]
    found = [split for split in SPLITS if _find_folder(root, split)]
    return found or (["train"] if _has_images(root) else [])


def open(root: Path, split: str) -> "ImageFolder":
    """The names of all files are read; a file is looked into when it is asked for."""
    folder = _find_folder(root, split) or (root if split == "train" else root / _FOLDERS[split][0])
    known = find_about(_sidecar(root, split)) if folder != root else None
    folders = class_folders(known.classes) if known else _classes(root, folder)
    names = [_image_names(folder / name) for name in folders]
    counts = [len(images) for images in names]
    _check_counts(folder, dict(zip(folders, counts, strict=True)), known)
    classes = known.classes if known else tuple(folders)
    about = About(count=sum(counts), classes=classes, shape=known.shape if known else None)
    return ImageFolder(about=about, folder=folder, folders=tuple(folders), **_packed_names(names))


def create(root: Path, split: str, about: About) -> FolderWriter:
    """Names are kept; what has no file name yet is given one that fits its content."""
    folder = partial_folder(root, NAME, split)
    refuse_existing(folder, [root / name for name in _FOLDERS[split]])
    return FolderWriter(folder, _FOLDERS[split][0], about, _sidecar(root, split).name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImageFolder:
    """A split of files. Their names, a million perhaps, lie end to end: so they are small, and sent quickly."""

    about: About
    folder: Path
    folders: tuple[str, ...]
    starts: NDArray[np.int64]  # the number of each class's first item
    names: bytes
    ends: NDArray[np.int64]  # where each name ends

    def item(self, index: int) -> Item:
        """Its file, byte for byte."""
        check_index(index, self.about, self.folder)
        label = int(self.starts.searchsorted(index, "right")) - 1
        name = self.names[self.ends[index - 1] if index else 0 : self.ends[index]]
        path = f"{self.folder}/{self.folders[label]}/{os.fsdecode(name)}"
        encoded = read_whole(path)
        check_complete(encoded, path)
        return Item(name=name.decode(errors="replace"), label=label, encoded=encoded)


def _sidecar(root: Path, split: str) -> Path:
    return root / f"{split}.{NAME}.json"


def _is_finished(root: Path, split: str) -> bool:
    return _find_folder(root, split) is not None and not is_unfinished(partial_folder(root, NAME, split))


def _find_folder(root: Path, split: str) -> Path | None:
    return next((root / name for name in _FOLDERS[split] if _has_images(root / name)), None)


def _has_images(folder: Path) -> bool:
    """Whether a folder has a folder with an image in it."""
    return any(next(_images(name), None) is not None for name in _subfolders(folder))


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            paths = [Path(entry.path) for entry in entries if entry.is_dir()]
    except OSError:  # not there, or no folder
        return []
    return sorted(path for path in paths if not path.name.startswith(".") and path.suffix != ".partial")


def _images(folder: Path) -> Iterator[bytes]:
    try:
        with os.scandir(os.fsencode(folder)) as entries:
            for entry in entries:
                if entry.name.lower().endswith(_SUFFIXES) and not entry.name.startswith(b".") and entry.is_file():
                    yield entry.name
    except FileNotFoundError:
        return
    except OSError as error:
        raise NetdynoError(f"{folder} cannot be read: {error.strerror}.") from error


_SUFFIXES = tuple(suffix.encode() for suffix in SUFFIXES)


def _image_names(folder: Path) -> list[bytes]:
    return sorted(_images(folder))


def _classes(root: Path, folder: Path) -> list[str]:
    """The names of the class folders, which must be those of the split to train with: else labels would shift."""
    names = [path.name for path in _subfolders(folder)]
    train = _find_folder(root, "train")
    expected = [path.name for path in _subfolders(train)] if train else names
    if names != expected:
        odd = sorted(set(names) ^ set(expected))[0]
        received = "none" if odd in expected else "one more"
        raise NetdynoError(f"{folder}: expected the class folders of {train}, received {received} named {odd}.")
    if not names:
        raise NetdynoError(f"{folder}: expected a folder for each class with images in it, received none.")
    return names


def _check_counts(folder: Path, counts: dict[str, int], known: About | None) -> None:
    """A class without images is a mistake, unless who wrote the split says how many there are in all."""
    empty = [name for name, count in counts.items() if not count]
    if known is None and empty:
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        raise NetdynoError(
            f"{folder}: expected images in each class folder, received none in {', '.join(empty[:3])}{more}.",
            hint="Delete it, if there is no such class.",
        )
    if known is not None and known.count != sum(counts.values()):
        without = f" Without images: {', '.join(empty[:3])}." if empty else ""
        raise NetdynoError(f"{folder}: expected {known.count} images, received {sum(counts.values())}.{without}")


def _packed_names(names: list[list[bytes]]) -> dict[str, Any]:
    flat = [name for images in names for name in images]
    counts = np.array([0, *(len(images) for images in names)], np.int64)
    ends = np.cumsum(np.array([len(name) for name in flat], np.int64))
    return {"starts": np.cumsum(counts)[:-1], "names": b"".join(flat), "ends": ends}
