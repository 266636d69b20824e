"""How items of one shape are written as plain numbers: checked, stacked, then laid out as their format has it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.images import pixels_of
from netdyno.data.item import About, Images, Item, Labels, Pixels, facts
from netdyno.data.partial import PartialSplit, Piece
from netdyno.data.sidecar import checked_label
from netdyno.errors import NetdynoError

Layout = Callable[[int, Images, Labels], Sequence[Piece]]  # the first item's number, images and labels: where they go


class PixelWriter:
    """A split of `about.shape`; its format is in `layout` alone."""

    wants_pixels = True

    def __init__(self, folder: Path, about: About, layout: Layout) -> None:
        self._about, self._layout = about, layout
        self._shape = shape_to_write(folder, about)
        self._split = PartialSplit(folder, facts(about))

    @property
    def done(self) -> int:
        """How many items are safe."""
        return self._split.done

    def write(self, items: Sequence[Item]) -> None:
        """Append; an item of another shape or with a label that no class has is refused."""
        if not items:
            return
        check_room(self.done + len(items), self._about)
        images = np.stack([self._pixels(item) for item in items])
        labels = np.array([checked_label(item.label, self._about, f"image {item.name}") for item in items], np.int32)
        self._split.write(self._layout(self.done, images, labels), len(items))

    def write_pixels(self, images: Images, labels: Labels) -> None:
        """Append many that are in one array already, and whose labels were checked when they were read."""
        check_room(self.done + len(images), self._about)
        if images.shape[1:] != self._shape:
            raise NetdynoError(f"expected images of {self._shape}, received {images.shape[1:]}.")
        self._split.write(self._layout(self.done, images, labels), len(images))

    def finish(self) -> None:
        """Make the split visible, if all of it was written."""
        check_all_written(self.done, self._about)
        self._split.finish()

    def close(self) -> None:
        """Let another process continue."""
        self._split.close()

    def _pixels(self, item: Item) -> Pixels:
        pixels = pixels_of(item, self._shape[2])
        if pixels.shape != self._shape:
            expected, received = ("×".join(map(str, shape)) for shape in (self._shape, pixels.shape))
            raise NetdynoError(f"image {item.name}: expected {expected} pixels, received {received}.")
        return pixels


def raw(array: NDArray[np.generic]) -> memoryview:
    """Its bytes as they lie, not copied where they lie in order."""
    return np.ascontiguousarray(array).data.cast("B")


def shape_to_write(folder: Path, about: About) -> tuple[int, int, int]:
    """The shape of all items, without which a format of pixels cannot be written."""
    if about.count < 1:
        raise NetdynoError(f"{folder.parent}: expected at least one item to write, received {about.count}.")
    if about.shape is None:
        raise NetdynoError(f"{folder.parent}: expected images of one shape, received images of any.")
    if min(about.shape) < 1 or about.shape[2] not in (1, 3):
        raise NetdynoError(f"{folder.parent}: expected height × width × 1 or 3 channels, received {about.shape}.")
    return about.shape


def check_room(done: int, about: About) -> None:
    """Refuse more items than were announced."""
    if done > about.count:
        raise NetdynoError(f"expected {about.count} items in all, received {done}.")


def check_all_written(done: int, about: About) -> None:
    """Refuse to show a split that lacks items."""
    if done != about.count:
        raise NetdynoError(f"expected {about.count} items to be written before the end, received {done}.")
