"""Where are datasets on this machine, and in which formats?"""

import os
from dataclasses import dataclass
from pathlib import Path

from netdyno.data.catalog import Dataset
from netdyno.data.codecs.files import as_one_line
from netdyno.data.drawn import Shapes
from netdyno.data.formats.registry import formats, takes_pixels
from netdyno.data.item import Source
from netdyno.data.origin import is_made_from, is_unchanged, origin_of, other_data, same
from netdyno.errors import NetdynoError


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A dataset in a format in which it can be read here."""

    format: str
    folder: Path
    splits: tuple[str, ...]

    @property
    def is_given(self) -> bool:
        """Whether it is a folder of the user."""
        return self.folder.is_symlink()

    def open(self, split: str) -> Source:
        return formats()[self.format].open(self.folder, split)

    def find_bytes(self) -> int | None:
        """The size of all files; None for a folder of the user, which may hold a million of them."""
        if self.is_given:
            return None
        with as_one_line(self.folder):
            return sum(
                os.lstat(f"{parent}/{name}").st_size for parent, _, names in os.walk(self.folder) for name in names
            )


def folder_of(home: Path, name: str, format_name: str) -> Path:
    """The folder of a dataset in a format, whether it exists or not."""
    return home / "datasets" / name / format_name


def present(home: Path, name: str) -> list[Present]:
    """All formats in which a dataset has at least one split here; a folder may be a link to one of the user."""
    found = []
    for format_name in formats():
        folder = folder_of(home, name, format_name)
        with as_one_line(folder):
            splits = tuple(formats()[format_name].find(folder)) if folder.is_dir() else ()
        if splits:
            found.append(Present(format=format_name, folder=folder, splits=splits))
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
    return min(here, key=lambda place: _distance(place, dataset)).open(split)


def check_origin(home: Path, dataset: Dataset, split: str, format_name: str) -> None:
    """Refuse a split that was converted from other data than what is here now; its source may be gone."""
    here = [place for place in present(home, dataset.name) if split in place.splits]
    own = next(place for place in here if place.format == format_name)
    if _is_original(own, dataset):
        return
    others = [place for place in here if place is not own]
    others = [place for place in others if _is_original(place, dataset)] or others
    found = own.open(split)
    made = found.about.origin
    if made and any(is_unchanged(made, place.folder) for place in others):
        return
    given = [open_dataset(home, dataset, split)] if dataset.drawn else [place.open(split) for place in others]
    if given and not any(_agree(found, each) for each in given):
        hint = f"Delete {own.folder}: it is written again when it is needed."
        raise other_data(own.folder, made, origin_of(given[0]), hint)


def _is_original(place: Present, dataset: Dataset) -> bool:
    """Whether it was published or given in this format, and not converted here."""
    return place.is_given or place.format == dataset.format


def _agree(found: Source, given: Source) -> bool:
    """Whether one is made from the other, or both from the same."""
    made, other = found.about.origin, given.about.origin
    return is_made_from(found, origin_of(given)) or (made is not None and other is not None and same(made, other))


def _distance(place: Present, dataset: Dataset) -> tuple[bool, bool, bool]:
    """How far a format is from what was published or given."""
    return place.format != dataset.format, not place.is_given, takes_pixels(place.format)
