"""What an encoded image shows, and how pixels are encoded so that none is lost."""

import io
import struct
import zlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from netdyno.data.item import Item, Pixels
from netdyno.errors import NetdynoError

MOST_PIXELS = 89_478_485  # beyond, a few bytes could unpack to gigabytes
_MODES = {1: "L", 3: "RGB"}
_PNG_COLOURS = {1: 0, 3: 2}  # colour types by channels
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"IEND\xaeB`\x82"
_PNG_UP = 2  # the filter that is a row's difference to the one above
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 1, 6: 3}  # by colour type; what is transparent is not a channel here
_JPEG = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"
_JPEG_SCAN = 0xDA
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset((0x01, *range(0xD0, 0xD8)))  # markers without a length


def pixels_of(item: Item, channels: int) -> Pixels:
    """Height × width × channels, grey or RGB as asked; how a camera was held (EXIF) does not matter."""
    if channels not in _MODES:
        raise NetdynoError(f"image {item.name}: expected to give 1 or 3 channels, {channels} were asked for.")
    if item.pixels is not None:
        return _converted(item.pixels, channels, item.name)
    encoded = item.encoded or b""
    check_complete(encoded, item.name)
    return _decoded(encoded, channels, item.name)


def encoded_of(item: Item) -> bytes:
    """The image's file as it is; of pixels a PNG."""
    if item.encoded is not None:
        return item.encoded
    if item.pixels is None or not _is_image(item.pixels):
        received = "none" if item.pixels is None else f"{item.pixels.dtype} {item.pixels.shape}"
        raise NetdynoError(f"image {item.name}: expected uint8 pixels of 1 or 3 channels, received {received}.")
    return _png(item.pixels)


def size_of(encoded: bytes, name: str = "an image") -> tuple[int, int, int]:
    """Height, width and channels (1 grey, 3 colour) as its header says them; nothing is decoded."""
    if not encoded:
        raise NetdynoError(f"image {name}: expected a JPEG or PNG, received no bytes at all.")
    if encoded.startswith(_PNG):
        size = _find_png_size(encoded)
    elif encoded.startswith(_JPEG):
        size = _find_jpeg_size(encoded)
    else:
        raise NetdynoError(f"image {name}: expected a JPEG or PNG, received bytes that begin {encoded[:4].hex(' ')}.")
    if size is None or min(size) < 1:
        raise NetdynoError(f"image {name}: expected a size in its header, received a damaged one.")
    if size[0] * size[1] > MOST_PIXELS:
        raise NetdynoError(f"image {name}: expected at most {MOST_PIXELS:,} pixels, received {size[1]} × {size[0]}.")
    return size


def check_complete(encoded: bytes, name: str) -> None:
    """Refuse what is no JPEG or PNG, or has no end: without decoding it, that is all there is to see."""
    size_of(encoded, name)
    complete = _PNG_END in encoded if encoded.startswith(_PNG) else _jpeg_ends(encoded)
    if not complete:
        raise NetdynoError(f"image {name}: expected its end mark, received {len(encoded)} bytes without: it is cut.")


def _decoded(encoded: bytes, channels: int, name: str) -> Pixels:
    try:
        with _library().open(io.BytesIO(encoded), formats=("JPEG", "PNG")) as image:
            return _array(image, channels)
    except NetdynoError:
        raise
    except Exception as error:  # a decoder of foreign bytes raises whatever it stumbles over
        reason = str(error) or type(error).__name__
        raise NetdynoError(f"image {name}: expected to decode it, received: {reason}.") from error


def _array(image: Any, channels: int) -> Pixels:
    if image.mode.startswith("I"):  # 16 bits a pixel: the upper 8 are kept
        deep = np.asarray(image).astype(np.int64) >> 8
        return _converted(deep.astype(np.uint8)[:, :, None], channels, "")
    mode = _MODES[channels]
    pixels: Pixels = np.asarray(image if image.mode == mode else image.convert(mode))
    return pixels.reshape(pixels.shape[0], pixels.shape[1], channels)


def _converted(pixels: Pixels, channels: int, name: str) -> Pixels:
    if not _is_image(pixels):
        raise NetdynoError(
            f"image {name}: expected uint8 pixels of 1 or 3 channels, received {pixels.dtype} {pixels.shape}."
        )
    if pixels.shape[2] == channels:
        return pixels
    if channels == 3:
        return np.repeat(pixels, 3, axis=2)
    return np.asarray(_pillow(pixels).convert("L"))[:, :, None]


def _is_image(pixels: Pixels) -> bool:
    return pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.size > 0 and pixels.shape[2] in _MODES


def _pillow(pixels: Pixels) -> Any:
    flat = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    return _library().fromarray(np.ascontiguousarray(flat))


def _library() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise NetdynoError(
            "expected Pillow to decode images, it is missing.", hint="pip install 'netdyno[data]'"
        ) from error
    return Image


def _png(pixels: Pixels) -> bytes:
    """Each row as its difference to the one above. Written out: Pillow takes several times as long for digits."""
    height, width, channels = pixels.shape
    rows = np.full((height, 1 + width * channels), _PNG_UP, np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    rows[1:, 1:] -= pixels.reshape(height, -1)[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, _PNG_COLOURS[channels], 0, 0, 0)
    body = _png_chunk(b"IHDR", header) + _png_chunk(b"IDAT", zlib.compress(rows.tobytes(), 1))
    return _PNG + body + _png_chunk(b"IEND", b"")


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _find_png_size(encoded: bytes) -> tuple[int, int, int] | None:
    if len(encoded) < 26 or encoded[12:16] != b"IHDR" or encoded[25] not in _PNG_CHANNELS:
        return None
    width, height = int.from_bytes(encoded[16:20], "big"), int.from_bytes(encoded[20:24], "big")
    return height, width, _PNG_CHANNELS[encoded[25]]


def _find_jpeg_size(encoded: bytes) -> tuple[int, int, int] | None:
    for marker, at in _jpeg_segments(encoded):
        if marker in _JPEG_FRAMES:
            height, width = (int.from_bytes(encoded[begin : begin + 2], "big") for begin in (at + 5, at + 7))
            return height, width, 1 if encoded[at + 9] == 1 else 3
    return None


def _jpeg_ends(encoded: bytes) -> bool:
    """Whether an end mark follows the first scan; one before it belongs to a thumbnail."""
    scans = (at for marker, at in _jpeg_segments(encoded) if marker == _JPEG_SCAN)
    scan_at = next(scans, None)
    return scan_at is not None and encoded.rfind(_JPEG_END, scan_at) >= 0


def _jpeg_segments(encoded: bytes) -> Iterator[tuple[int, int]]:
    """Markers and where they stand, up to the first scan; behind it there are pixels."""
    at, marker = 2, 0
    while at + 10 <= len(encoded) and encoded[at] == 0xFF and marker != _JPEG_SCAN:
        marker = encoded[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _JPEG_ALONE:
            at += 2
        else:
            yield marker, at
            at += 2 + max(2, int.from_bytes(encoded[at + 2 : at + 4], "big"))
