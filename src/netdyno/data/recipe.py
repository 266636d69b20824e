"""What happens to an item between two formats? It is kept as it is, encoded, decoded, or cut to a size."""

import time
from dataclasses import dataclass, replace

import numpy as np

from netdyno.data.codecs.images import encoded_of, pixels_of, size_of
from netdyno.data.formats.registry import needs_pixels, takes_pixels
from netdyno.data.item import About, Item, Pixels, Source, times
from netdyno.data.origin import origin_of
from netdyno.errors import NetdynoError

SAMPLED = 64  # images that decide whether a split is grey
TIMED = 8
SLOW_S = 5e-5  # about the time to send an image to another process


class Unfit(NetdynoError):
    """An item that is sound, but cannot be among the others: what was written of them is of no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How items of a source become what a writer wants; `about` describes what will be written."""

    source: Source
    about: About
    to_pixels: bool
    size: int | None = None

    def item(self, index: int) -> Item:
        item = self.source.item(index)
        if not self.to_pixels:
            return _encoded(item)
        _, _, channels = self.about.shape or (0, 0, 0)
        pixels = _in_channels(item, channels)
        if self.size is not None:
            pixels = cut(pixels, self.size)
        if pixels.shape != self.about.shape:
            raise _other_shape(index, item, pixels, self.about)
        return replace(item, pixels=pixels, encoded=None)

    @property
    def is_work(self) -> bool:
        """Whether other processes pay off: to decode, encode or draw images, not to copy them."""
        if self.size is not None or (self.source.item(0).pixels is not None) != self.to_pixels:
            return True
        return min(_cpu_s(self.source, index) for index in range(min(TIMED, self.about.count))) > SLOW_S


def about_to_write(source: Source, to_format: str, size: int | None) -> About:
    """What will be written, and from what. Pixels need one shape: that of the first image, or the requested size."""
    about = source.about
    if size is not None and not takes_pixels(to_format):
        raise NetdynoError(
            f"--size: expected a format of pixels, received '{to_format}', which keeps images as they are encoded."
        )
    if about.count == 0:
        raise NetdynoError("expected a split with images in it, received an empty one.")
    shape, origin = about.shape, origin_of(source)
    if size is not None:
        shape = (size, size, _channels(source))
    elif shape is None and needs_pixels(to_format):
        shape = _shape_of(source.item(0))
    return replace(about, shape=shape, origin=origin)


def cut(pixels: Pixels, size: int) -> Pixels:
    """Scale the shorter side to `size` and keep the centre, in one step: the largest centred square is resized."""
    from PIL import Image  # codecs.images has reported a missing Pillow

    height, width, channels = pixels.shape
    side = min(height, width)
    left, top = (width - side) / 2, (height - side) / 2
    image = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
    resized = image.resize((size, size), Image.Resampling.BILINEAR, box=(left, top, left + side, top + side))
    return np.asarray(resized, np.uint8).reshape(size, size, channels)


def _cpu_s(source: Source, index: int) -> float:
    start = time.thread_time()
    source.item(index)
    return time.thread_time() - start


def _encoded(item: Item) -> Item:
    """Byte for byte if it is encoded already."""
    return item if item.encoded is not None else replace(item, encoded=encoded_of(item), pixels=None)


def _in_channels(item: Item, channels: int) -> Pixels:
    """Grey images become coloured if the split is; coloured ones never become grey."""
    found = _shape_of(item)[2]
    if found > channels:
        raise Unfit(f"image {item.where}: expected a grey image as the others are, received a coloured one.")
    return pixels_of(item, channels)


def _channels(source: Source) -> int:
    if source.about.shape is not None:
        return source.about.shape[2]
    count = source.about.count
    chosen = sorted({index * count // SAMPLED for index in range(SAMPLED)})
    return max(_shape_of(source.item(index))[2] for index in chosen)


def _shape_of(item: Item) -> tuple[int, int, int]:
    if item.pixels is not None:
        height, width, channels = item.pixels.shape
        return height, width, channels
    return size_of(item.encoded or b"", item.where)


def _other_shape(index: int, item: Item, pixels: Pixels, about: About) -> Unfit:
    expected, received = times(about.shape), times(pixels.shape)
    return Unfit(
        f"item {index} (image {item.where}): expected {expected} pixels as the first image has, received {received}.",
        hint="Cut all to one size with --size N.",
    )
