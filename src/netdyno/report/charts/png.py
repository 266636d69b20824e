"""How is an image written as a PNG file?"""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

COLOUR_TYPES = {2: 4, 4: 6}  # by channels: grey with alpha, red, green and blue with alpha
MAGIC = b"\x89PNG\r\n\x1a\n"


def png(image: NDArray[np.uint8]) -> bytes:
    """A file of (height, width, channels); the last of two or four channels is opacity."""
    height, width, channels = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR_TYPES[channels], 0, 0, 0)
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = image.reshape(height, -1)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return MAGIC + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
