"""How does a dataset get into the format that a run needs? It is converted if it is not there yet."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from netdyno.data.catalog import Dataset, find_dataset
from netdyno.data.convert import Target, convert_split
from netdyno.data.formats.registry import format_to_write, needs_pixels
from netdyno.data.item import SPLITS, About
from netdyno.data.origin import digest_of
from netdyno.data.places import check_origin, folder_of, open_dataset

PACKED = "packed"
AROUND = 256 / 224  # images of different sizes are cut this much larger than what the network sees

Progress = Callable[[str, int, int], None]  # split, images done, of how many


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Both splits of a dataset in one format; `about` describes the train split."""

    source: str
    format: str
    folder: Path
    about: About
    digests: Mapping[str, str] = field(default_factory=dict)  # of the data, by split
    suffix: str = f".{PACKED}"
    simple: Mapping[str, float] = field(default_factory=dict)  # scores of what needs no network, by name

    def packed_file(self, split: str) -> Path:
        """The only file of a split in the packed format, or of rows."""
        return self.folder / f"{split}{self.suffix}"


def make_ready(home: Path, name: str, format_name: str, progress: Progress) -> Ready:
    """The dataset in a format; splits that are missing are converted from whatever format is here."""
    dataset, wanted = find_dataset(name), format_to_write(format_name)
    folder = folder_of(home, name, format_name)
    for split in SPLITS:
        if split in wanted.find(folder):
            check_origin(home, dataset, split, format_name)
        else:
            _write(home, dataset, split, format_name, progress)
    found = {split: wanted.open(folder, split) for split in SPLITS}
    digests = {split: digest_of(source) for split, source in found.items()}
    return Ready(source=name, format=format_name, folder=folder, about=found["train"].about, digests=digests)


def _write(home: Path, dataset: Dataset, split: str, format_name: str, progress: Progress) -> None:
    source = open_dataset(home, dataset, split)
    count = source.about.count
    varied = source.about.shape is None and needs_pixels(format_name)
    size = round(AROUND * dataset.shape[0]) if varied else None
    folder = folder_of(home, dataset.name, format_name)
    target = Target(format=format_name, folder=folder, size=size, processes=os.cpu_count() or 1)
    convert_split(source, split, target, lambda done, _: progress(split, done, count))
