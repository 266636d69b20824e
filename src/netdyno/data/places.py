"""Where are datasets on this machine, and in which formats?"""

import os
from dataclasses import dataclass
from pathlib import Path

from netdyno.data.catalog import Dataset
from netdyno.data.drawn import Shapes
from netdyno.data.formats.registry import formats, takes_pixels
from netdyno.data.item import Source
from netdyno.errors import NetdynoError


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A dataset in a format in which it can be read here."""

    format: str
    folder: Path
    splits: tuple[str, ...]
    bytes: int | None  # not counted in a folder of the user


def folder_of(home: Path, name: str, format_name: str) -> Path:
    """The folder of a dataset in a format, whether it exists or not."""
    return home / "datasets" / name / format_name


def present(home: Path, name: str) -> list[Present]:
    """All formats in which a dataset has at least one split here; a folder may be a link to one of the user."""
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
    """A split in the best format that is here: as published, else a folder of the user, else one of encoded images.
    Drawn datasets need no files."""
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
    """How far a format is from what was published or given."""
    return place.format != dataset.format, not place.folder.is_symlink(), takes_pixels(place.format)


def _find_bytes(folder: Path) -> int | None:
    """The size of all files; None for a link to a folder of the user, which may hold a million of them."""
    if folder.is_symlink():
        return None
    return sum(os.lstat(f"{parent}/{name}").st_size for parent, _, names in os.walk(folder) for name in names)
