"""What is a dataset made of? Images with labels, read by number from a split, written one after another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from netdyno.errors import NetdynoError

Pixels = NDArray[np.uint8]  # height × width × channels
Images = NDArray[np.uint8]  # items × height × width × channels
Labels = NDArray[np.int32]
_Positive = Annotated[int, msgspec.Meta(ge=1)]

SPLITS = ("train", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An image with its label: either `encoded` (a JPEG or PNG file, byte for byte) or `pixels`."""

    name: str  # a file name without folders, or the item's number where the format has no names
    label: int
    encoded: bytes | None = None
    pixels: Pixels | None = None
    place: str = ""  # where it lies, for messages

    @property
    def where(self) -> str:
        """How a message names it."""
        return self.place or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a split was converted from: a digest of its content, where it lay, and the state of its files then."""

    digest: str
    place: str
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a split before its first item is read. `shape` (height, width, channels) if all items share it
    and are stored as pixels; `classes` are the names of the labels, or their numbers; `origin` where it is known."""

    count: Annotated[int, msgspec.Meta(ge=0)]
    classes: tuple[str, ...]
    shape: tuple[_Positive, _Positive, _Positive] | None = None
    origin: Origin | None = None


class Source(Protocol):
    """A split that several processes can read: it pickles as paths and offsets, without open files."""

    @property
    def about(self) -> About: ...

    def item(self, index: int) -> Item:
        """The item, or a NetdynoError that names the file and the position of what is wrong."""


@runtime_checkable
class PixelSource(Source, Protocol):
    """A split stored as pixels. Reading a block of items is fifty times as fast as reading them one by one."""

    def pixels(self, first: int, last: int) -> tuple[Images, Labels]:
        """The items from `first` to before `last`, checked as single items are."""


@runtime_checkable
class PlacedSource(Source, Protocol):
    """A split in files."""

    @property
    def place(self) -> Path:
        """The folder that they are in."""


@runtime_checkable
class SelectiveSource(Source, Protocol):
    """A split that does not read all images that lie there."""

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many are left out, by what they are."""


@runtime_checkable
class IndexedSource(Source, Protocol):
    """A split that knows more of its items than their number."""

    def index(self) -> Iterator[bytes]:
        """What is known of all items without reading them: names, places, sizes; all of the files, if they are small.
        It depends on what the items are, and not on where they lie."""


class Writer(Protocol):
    """A split that is being written; it is not visible under its name before `finish`."""

    wants_pixels: bool  # otherwise encoded images are stored as they are

    @property
    def done(self) -> int:
        """The number of items that are safe; writing continues after them."""

    def write(self, items: Sequence[Item]) -> None:
        """Append items. When this returns they survive the end of the process, and `done` counts them."""

    def finish(self) -> None:
        """Make the split visible under its name."""

    def close(self) -> None:
        """Let another process continue."""

    def discard(self) -> None:
        """Remove what was written."""


class ReadFormat(Protocol):
    """A way in which a split lies in a folder; each module of `formats` is one."""

    @property
    def NAME(self) -> str: ...  # noqa: N802  # a constant, in modules

    def find(self, root: Path) -> Sequence[str]:
        """The splits of this format in a folder."""

    def open(self, root: Path, split: str) -> Source:
        """Read a split; a fault in its files is a NetdynoError."""


class Format(ReadFormat, Protocol):
    """A format that can also be written."""

    def create(self, root: Path, split: str, about: About) -> Writer:
        """Start or continue to write a split of `about.count` items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """Some items of a source, spread evenly: most sources are sorted by class, so the first N would be one class."""

    source: Source
    about: About

    def item(self, index: int) -> Item:
        check_index(index, self.about, "subset")
        return self.source.item(index * self.source.about.count // self.about.count)


def left_out_of(source: Source) -> Mapping[str, int]:
    """How many images that lie there are not read, by what they are."""
    whole = source.source if isinstance(source, Subset) else source
    return whole.left_out if isinstance(whole, SelectiveSource) else {}


def times(shape: Sequence[int] | None) -> str:
    """A shape in words, as 28×28×1."""
    return "×".join(map(str, shape or ()))


def subset_of(source: Source, count: int) -> Subset:
    if not 1 <= count <= source.about.count:
        raise NetdynoError(f"count: expected from 1 to the {source.about.count:,} there are, received {count:,}.")
    return Subset(source=source, about=replace(source.about, count=count))


def check_index(index: int, about: About, where: Path | str) -> None:
    """Refuse numbers that are not an item's; negative ones would count from the end."""
    if not 0 <= index < about.count:
        raise NetdynoError(f"{where}: expected an item from 0 to {about.count - 1}, received {index}.")


def check_range(first: int, last: int, about: About, where: Path | str) -> None:
    """The same for all items from `first` to before `last`."""
    if not 0 <= first < last <= about.count:
        raise NetdynoError(
            f"{where}: expected items from 0 to {about.count - 1}, received the range from {first} to {last - 1}."
        )
