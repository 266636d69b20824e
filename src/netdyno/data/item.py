"""What a dataset is made of: images with labels, read by number from a split, written one after another."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]  # height × width × channels
Images = NDArray[np.uint8]  # items × height × width × channels
Labels = NDArray[np.int32]

SPLITS = ("train", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An image with its label: either `encoded` (a JPEG or PNG file, byte for byte) or `pixels`."""

    name: str  # a file's name without folders, or its number where the format has none
    label: int
    encoded: bytes | None = None
    pixels: Pixels | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a split before its first item is read. `shape` (height, width, channels) where all share it
    and are kept as pixels; `classes` are the labels' names, perhaps their numbers."""

    count: int
    classes: tuple[str, ...]
    shape: tuple[int, int, int] | None = None


class Source(Protocol):
    """A split that can be read, by several processes at a time: it holds paths and offsets, and no open file that
    could not be opened again after pickling."""

    @property
    def about(self) -> About:
        """What is known of it."""

    def item(self, index: int) -> Item:
        """The item, or a NetdynoError that names the file and the position of what is wrong."""


@runtime_checkable
class PixelSource(Source, Protocol):
    """A split of plain numbers, of which many can be read at a time: an item each would take fifty times as long."""

    def pixels(self, first: int, last: int) -> tuple[Images, Labels]:
        """Those from the first to before the last, checked as single items are."""


class Writer(Protocol):
    """A split that is being written; nothing of it is seen under its name until `finish`."""

    wants_pixels: bool  # else encoded images are kept as they are

    @property
    def done(self) -> int:
        """How many items are safe: after a crash, writing goes on behind them."""

    def write(self, items: Sequence[Item]) -> None:
        """Append; when it returns they are on disk, and `done` counts them."""

    def finish(self) -> None:
        """Make the split visible under its name."""

    def close(self) -> None:
        """Let go of files; what is safe stays so."""


class Format(Protocol):
    """How a split lies in a folder. Modules of this package implement it: each is one format."""

    NAME: str

    def find(self, root: Path) -> Sequence[str]:
        """The splits of this format that lie in a folder; none if it is not one of this format."""

    def open(self, root: Path, split: str) -> Source:
        """Read a split; what is wrong with its files is a NetdynoError."""

    def create(self, root: Path, split: str, about: About) -> Writer:
        """Begin or continue to write a split of `about.count` items."""


def facts(about: About) -> dict[str, Any]:
    """As JSON, for headers and journals."""
    return {"count": about.count, "classes": list(about.classes), "shape": about.shape and list(about.shape)}
