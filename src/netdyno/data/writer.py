"""How do items become the files of a split? Checked, laid out by their format, then appended to a partial split."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.images import pixels_of
from netdyno.data.item import About, Images, Item, Labels, Pixels, times
from netdyno.data.partial import PartialSplit, Piece
from netdyno.data.sidecar import checked_label
from netdyno.errors import NetdynoError

ITEMS_PER_SHARD = 1000

Layout = Callable[[PartialSplit, Sequence[Item]], Iterable[Piece]]  # of the items that follow `split.done`
PixelLayout = Callable[[int, Images, Labels], Iterable[Piece]]  # by the number of the first item


class SplitWriter:
    """Writes encoded images; `layout` is their format. With the first write come the `head` pieces."""

    wants_pixels = False

    def __init__(self, folder: Path, about: About, layout: Layout, head: Sequence[Piece] = ()) -> None:
        self._about, self._layout, self._head = about, layout, head
        self._split = PartialSplit(folder, msgspec.to_builtins(about))

    @property
    def done(self) -> int:
        return self._split.done

    def write(self, items: Sequence[Item]) -> None:
        """Append; an item whose label no class has is refused."""
        for index, item in enumerate(items, self.done):
            checked_label(item.label, self._about, f"item {index} ('{item.where}')")
        if items:
            self._append(self._layout(self._split, items), len(items))

    def finish(self) -> None:
        """Make the split visible, if all of it was written."""
        if self.done != self._about.count:
            raise NetdynoError(
                f"expected {self._about.count} items to be written before the end, received {self.done}."
            )
        if not self._split.is_begun:
            self._append(self._layout(self._split, []), 0)
        self._split.finish()

    def close(self) -> None:
        self._split.close()

    def discard(self) -> None:
        self._split.discard()

    def _append(self, pieces: Iterable[Piece], count: int) -> None:
        if self.done + count > self._about.count:
            raise NetdynoError(f"expected {self._about.count} items in all, received {self.done + count}.")
        self._split.write([*(() if self._split.is_begun else self._head), *pieces], count)


class PixelWriter(SplitWriter):
    """Writes pixels of one shape; `pixel_layout` is their format."""

    wants_pixels = True

    def __init__(self, folder: Path, about: About, pixel_layout: PixelLayout, head: Sequence[Piece] = ()) -> None:
        self._shape, self._pixel_layout = shape_to_write(folder.parent, about), pixel_layout
        super().__init__(folder, about, self._stacked, head)

    def write_pixels(self, images: Images, labels: Labels) -> None:
        """Append items that are in one array already and whose labels were checked when they were read."""
        if images.shape[1:] != self._shape:
            raise NetdynoError(f"expected images of {self._shape}, received {images.shape[1:]}.")
        self._append(self._pixel_layout(self.done, images, labels), len(images))

    def _stacked(self, _: PartialSplit, items: Sequence[Item]) -> Iterable[Piece]:
        images = np.stack([self._pixels(item) for item in items])
        return self._pixel_layout(self.done, images, np.array([item.label for item in items], np.int32))

    def _pixels(self, item: Item) -> Pixels:
        pixels = pixels_of(item, self._shape[2])
        if pixels.shape != self._shape:
            received = f"{times(self._shape)} pixels, received {times(pixels.shape)}"
            raise NetdynoError(f"image {item.where}: expected {received}.")
        return pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardLayout:
    """Records in shards: a new one after 1,000 items, or where the next record would make it too large."""

    name_of: Callable[[int], str]
    record_of: Callable[[int, Item], bytes]
    count: int
    largest_bytes: int = 2**62
    end: bytes = b""

    def __call__(self, split: PartialSplit, items: Sequence[Item]) -> Iterator[Piece]:
        shard = max(len(split.sizes) - 1, 0)
        size, records = split.sizes.get(self.name_of(shard), 0), list[bytes]()
        for index, item in enumerate(items, split.done):
            record = self.record_of(index, item)
            if size and (index % ITEMS_PER_SHARD == 0 or size + len(record) > self.largest_bytes):
                yield Piece(name=self.name_of(shard), data=b"".join((*records, self.end)))
                shard, size, records = shard + 1, 0, []
            records.append(record)
            size += len(record)
        end = self.end if split.done + len(items) == self.count else b""
        yield Piece(name=self.name_of(shard), data=b"".join((*records, end)))


def raw(array: NDArray[np.generic]) -> memoryview:
    """An array's bytes, copied only if they are not in order."""
    return np.ascontiguousarray(array).data.cast("B")


def shape_to_write(root: Path, about: About, most_classes: int = 2**31) -> tuple[int, int, int]:
    """The shape of all items, which a format of pixels needs."""
    if about.count < 1:
        raise NetdynoError(f"{root}: expected at least one item to write, received {about.count}.")
    if about.shape is None:
        raise NetdynoError(f"{root}: expected images of one shape, received images of any.")
    if min(about.shape) < 1 or about.shape[2] not in (1, 3):
        raise NetdynoError(f"{root}: expected height × width × 1 or 3 channels, received {about.shape}.")
    if len(about.classes) > most_classes:
        raise NetdynoError(f"{root}: expected at most {most_classes} classes, received {len(about.classes)}.")
    return about.shape
