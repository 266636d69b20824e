"""Where datasets lie on this machine, and which of them are there in which format."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from netdyno.data.catalog import Dataset
from netdyno.data.drawn import Shapes
from netdyno.data.formats.registry import formats, takes_pixels
from netdyno.data.item import Source
from netdyno.errors import NetdynoError


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A dataset that can be read here."""

    format: str
    folder: Path
    splits: tuple[str, ...]
    bytes: int | None  # not counted in a folder that is the user's own


def folder_of(home: Path, name: str, format_name: str) -> Path:
    """Where a dataset lies in a format, whether it is there yet or not."""
    return home / "datasets" / name / format_name


def present(home: Path, name: str) -> list[Present]:
    """What is there of a dataset, in every format with at least one split; a folder may be a link to the user's."""
    found = []
    for format_name in formats():
        folder = folder_of(home, name, format_name)
        if not folder.is_dir():
            continue
        splits = tuple(formats()[format_name].find(folder))
        if splits:
            found.append(Present(format=format_name, folder=folder, splits=splits, bytes=_find_bytes(folder)))
    return found


def open_dataset(home: Path, dataset: Dataset, split: str) -> Source:
    """A dataset's split in whichever format it is here: as it was published, else the user's own, else one that keeps
    images as they were encoded. Drawn ones need none."""
    if dataset.drawn:
        return Shapes(about=dataset.about(split), split=split)
    here = [place for place in present(home, dataset.name) if split in place.splits]
    if not here:
        raise NetdynoError(
            f"{dataset.name} has no {split} split here.", hint=f"Run: netdyno datasets get {dataset.name}"
        )
    place = min(here, key=lambda place: _distance(place, dataset))
    return formats()[place.format].open(place.folder, split)


def _distance(place: Present, dataset: Dataset) -> tuple[bool, bool, bool]:
    """How far from what was published or given."""
    return place.format != dataset.format, not place.folder.is_symlink(), takes_pixels(place.format)


def _find_bytes(folder: Path) -> int | None:
    """Of all files; None for a link to the user's folder, which may hold a million of them."""
    return None if folder.is_symlink() else sum(entry.stat().st_size for entry in _files(folder))


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """In the folder and below, links not followed."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield entry
