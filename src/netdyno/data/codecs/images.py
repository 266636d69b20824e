"""What is in an encoded image, and how are pixels encoded without loss?"""

import io
import re
import struct
import zlib
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from netdyno.data.codecs.optional import optional_module
from netdyno.data.item import Item, Pixels
from netdyno.errors import NetdynoError

MOST_PIXELS = 89_478_485  # with more, a few bytes could expand to gigabytes
_MODES = {1: "L", 3: "RGB"}
_PNG_COLOURS = {1: 0, 3: 2}  # colour types by channels
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"IEND\xaeB`\x82"
_PNG_UP = 2  # the filter type: difference to the row above
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 1, 6: 3}  # by colour type; what is transparent is not a channel here
_DECODED_KINDS = {
    "WEBP": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "BMP": re.compile(rb"BM"),
    "GIF": re.compile(rb"GIF8"),
}
_JPEG = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"
_JPEG_SEGMENT = struct.Struct(">BBH")  # 255, the marker, the length of what follows
_JPEG_FRAME = struct.Struct(">HHB")  # height, width, channels
_JPEG_SCAN = 0xDA
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset((0x01, *range(0xD0, 0xD8)))  # markers without a length


def image_item(item: Item, data: bytes) -> Item:
    """The item with its image: a JPEG or PNG as it is, checked to be complete. WebP, BMP and GIF (its first frame)
    become pixels, as most formats and frameworks know neither."""
    kind = next((kind for kind, begins in _DECODED_KINDS.items() if begins.match(data)), None)
    if kind is None:
        check_complete(data, item.where)
        return replace(item, encoded=data)
    return replace(item, pixels=_decoded_at_once(data, kind, item.where))


def pixels_of(item: Item, channels: int) -> Pixels:
    """Height × width × channels, grey or RGB as requested; the orientation in EXIF is ignored."""
    if channels not in _MODES:
        raise NetdynoError(f"image {item.where}: expected a request for 1 or 3 channels, received {channels}.")
    if item.pixels is not None:
        return _converted(item.pixels, channels, item.where)
    encoded = item.encoded or b""
    check_complete(encoded, item.where)
    return _decoded(encoded, channels, item.where)


def encoded_of(item: Item) -> bytes:
    """The image file as it is; pixels become a PNG."""
    if item.encoded is not None:
        return item.encoded
    return _png(_checked_pixels(item.pixels, item.where))


def size_of(encoded: bytes, name: str = "an image") -> tuple[int, int, int]:
    """Height, width and channels (1 grey, 3 colour) from the header; nothing is decoded."""
    if not encoded:
        raise NetdynoError(f"image {name}: expected a JPEG or PNG, received no bytes at all.")
    if encoded.startswith(_PNG):
        size = _find_png_size(encoded)
    elif encoded.startswith(_JPEG):
        size = _find_jpeg_size(encoded, _jpeg_marks(encoded)[0])
    else:
        raise NetdynoError(f"image {name}: expected a JPEG or PNG, received bytes that begin {encoded[:4].hex(' ')}.")
    return _checked_size(size, name)


def check_complete(encoded: bytes, name: str) -> None:
    """Refuse what is no JPEG or PNG, or has no end mark. More cannot be seen without decoding."""
    if encoded.startswith(_JPEG):
        frame_at, scan_at = _jpeg_marks(encoded)
        _checked_size(_find_jpeg_size(encoded, frame_at), name)
        complete = scan_at > 0 and encoded.rfind(_JPEG_END, scan_at) >= 0  # before the scan it is that of a thumbnail
    else:
        size_of(encoded, name)
        complete = encoded.rfind(_PNG_END) >= 0
    if not complete:
        raise NetdynoError(f"image {name}: expected its end mark, received {len(encoded)} bytes without: it is cut.")


def _checked_size(size: tuple[int, int, int] | None, name: str) -> tuple[int, int, int]:
    if size is None or min(size) < 1:
        raise NetdynoError(f"image {name}: expected a size in its header, received a damaged one.")
    if size[0] * size[1] > MOST_PIXELS:
        raise NetdynoError(f"image {name}: expected at most {MOST_PIXELS:,} pixels, received {size[1]} × {size[0]}.")
    return size


def _decoded(encoded: bytes, channels: int, name: str) -> Pixels:
    try:
        if size := _find_usual_jpeg(encoded, channels):
            return _decoded_jpeg(encoded, size)
        with _library().open(io.BytesIO(encoded), formats=("JPEG", "PNG")) as image:
            return _array(image, channels)
    except NetdynoError:
        raise
    except Exception as error:  # decoders raise all kinds of errors for damaged bytes
        reason = str(error) or type(error).__name__
        raise NetdynoError(f"image {name}: cannot be decoded: {reason}.") from error


def _decoded_at_once(data: bytes, kind: str, name: str) -> Pixels:
    try:
        with _library().open(io.BytesIO(data), formats=(kind,)) as image:
            channels = 1 if image.mode in ("1", "L") else 3
            _checked_size((image.height, image.width, channels), name)
            return _array(image, channels)
    except NetdynoError:
        raise
    except Exception as error:  # as above
        reason = str(error) or type(error).__name__
        raise NetdynoError(f"image {name}: cannot be decoded: {reason}.") from error


def _find_usual_jpeg(encoded: bytes, channels: int) -> tuple[int, int, int] | None:
    """The size of a JPEG of 8 bits with the requested number of channels, as most are; None for others."""
    frame_at, _ = _jpeg_marks(encoded) if encoded.startswith(_JPEG) else (0, 0)
    usual = frame_at > 0 and encoded[frame_at + 4] == 8 and encoded[frame_at + 9] == channels
    return _find_jpeg_size(encoded, frame_at) if usual else None


def _decoded_jpeg(encoded: bytes, size: tuple[int, int, int]) -> Pixels:
    """By TurboJPEG. Pillow uses the same library, but takes twice as long."""
    pixels: Pixels = optional_module("simplejpeg", "simplejpeg", "to decode images").decode_jpeg(
        encoded, colorspace="GRAY" if size[2] == 1 else "RGB"
    )
    return pixels.reshape(size)


def _array(image: Any, channels: int) -> Pixels:
    if image.mode.startswith("I"):  # 16 bits a pixel: the upper 8 are kept
        deep = np.asarray(image).astype(np.int64) >> 8
        return _converted(deep.astype(np.uint8)[:, :, None], channels, "")
    mode = _MODES[channels]
    pixels: Pixels = np.asarray(image if image.mode == mode else image.convert(mode))
    return pixels.reshape(pixels.shape[0], pixels.shape[1], channels)


def _converted(pixels: Pixels, channels: int, name: str) -> Pixels:
    if _checked_pixels(pixels, name).shape[2] == channels:
        return pixels
    if channels == 3:
        return np.repeat(pixels, 3, axis=2)
    return np.asarray(_library().fromarray(np.ascontiguousarray(pixels)).convert("L"))[:, :, None]


def _checked_pixels(pixels: Pixels | None, name: str) -> Pixels:
    if (
        pixels is None
        or pixels.dtype != np.uint8
        or pixels.ndim != 3
        or not pixels.size
        or pixels.shape[2] not in _MODES
    ):
        received = "none" if pixels is None else f"{pixels.dtype} {pixels.shape}"
        raise NetdynoError(f"image {name}: expected uint8 pixels of 1 or 3 channels, received {received}.")
    return pixels


def _library() -> ModuleType:
    return optional_module("PIL.Image", "Pillow", "to decode images")


def _png(pixels: Pixels) -> bytes:
    """Each row as its difference to the one above. Pillow takes several times as long for small images."""
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


def _find_jpeg_size(encoded: bytes, frame_at: int) -> tuple[int, int, int] | None:
    if not frame_at:
        return None
    height, width, channels = _JPEG_FRAME.unpack_from(encoded, frame_at + 5)
    return height, width, 1 if channels == 1 else 3


def _jpeg_marks(encoded: bytes) -> tuple[int, int]:
    """Offsets of the frame header and of the first scan, after which pixels follow; 0 if there is none."""
    at, frame_at, last = 2, 0, len(encoded) - 10
    while at <= last:
        begin, marker, length = _JPEG_SEGMENT.unpack_from(encoded, at)
        if begin != 0xFF:
            break
        if marker == _JPEG_SCAN:
            return frame_at, at
        if marker == 0xFF:
            at += 1
        elif marker in _JPEG_ALONE:
            at += 2
        else:
            frame_at = at if marker in _JPEG_FRAMES and not frame_at else frame_at
            at += 2 + length if length > 2 else 4
    return frame_at, 0
