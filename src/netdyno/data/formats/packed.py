"""netdyno's own format: one file to be mapped into memory, pixels then labels after a small header."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec
import numpy as np

from netdyno.data.codecs.files import File
from netdyno.data.formats.arrays import PixelArrays
from netdyno.data.item import SPLITS, About, Images, Labels
from netdyno.data.partial import Piece, begin_folder, is_unfinished
from netdyno.data.writer import PixelWriter, raw, shape_to_write

NAME = "packed"
MAGIC = b"NDPACK01"
ALIGNMENT_BYTES = 4096
LARGEST_HEADER_BYTES = 2**26
LABEL_BYTES = 4


def find(root: Path) -> Sequence[str]:
    return [split for split in SPLITS if _path(root, split).is_file() and not is_unfinished(root, NAME, split)]


def open(root: Path, split: str) -> PixelArrays:
    """Header and labels are checked; pixels can be anything."""
    file = File(_path(root, split))
    header, header_end = _header(file)
    about = About(count=header.count, classes=header.classes, shape=header.shape, origin=header.origin)
    labels_at = header.images_at + about.count * math.prod(header.shape)
    end = labels_at + about.count * LABEL_BYTES
    if header.images_at < header_end or header.images_at % ALIGNMENT_BYTES or header.labels_at != labels_at:
        received = f"{header.images_at} and {header.labels_at}"
        raise file.wrong(16, f"expected images and labels at fitting places, received {received}")
    if file.size != end:
        raise file.wrong(min(end, file.size), f"expected a file of {end} bytes, received {file.size}")
    places = {"images_at": header.images_at, "labels_at": labels_at}
    return PixelArrays(about=about, images=file, labels=file, label_type=np.dtype("<i4"), **places).check()


def create(root: Path, split: str, about: About) -> PixelWriter:
    """One file, in which every item has its place from the start."""
    folder = begin_folder(root, NAME, split, [_path(root, split)])
    name, image_bytes = _path(root, split).name, math.prod(shape_to_write(root, about))
    images_at, head = _head(about)
    labels_at = images_at + about.count * image_bytes

    def layout(first: int, images: Images, labels: Labels) -> list[Piece]:
        return [
            Piece(name=name, data=raw(images), at=images_at + first * image_bytes),
            Piece(name=name, data=labels.astype("<i4").tobytes(), at=labels_at + first * LABEL_BYTES),
        ]

    return PixelWriter(folder, about, layout, [Piece(name=name, data=head)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header(About):
    """What the file says of itself, as JSON."""

    shape: tuple[int, int, int]
    images_at: int
    labels_at: int


def _path(root: Path, split: str) -> Path:
    return root / f"{split}.packed"


def _head(about: About) -> tuple[int, bytes]:
    """Where images begin, and all bytes before them."""
    images_at = 0
    while True:  # the header says where it ends, so its own length may move that
        labels_at = images_at + about.count * math.prod(about.shape or ())
        header = msgspec.json.encode({**asdict(about), "images_at": images_at, "labels_at": labels_at})
        head = MAGIC + len(header).to_bytes(8, "little") + header
        if len(head) <= images_at:
            return images_at, head.ljust(images_at, b"\0")
        images_at += -(-(len(head) - images_at) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _header(file: File) -> tuple[_Header, int]:
    start = file.read(0, 16)
    if start[:8] != MAGIC:
        raise file.wrong(0, f"expected a packed file that begins {MAGIC!r}, received {start[:8]!r}")
    length = int.from_bytes(start[8:], "little")
    if length > min(file.size - 16, LARGEST_HEADER_BYTES):
        raise file.wrong(8, f"expected a header within the file of {file.size} bytes, received one of {length}")
    try:
        header = msgspec.json.decode(file.read(16, length), type=_Header)
    except (ValueError, RecursionError) as error:
        raise file.wrong(16, f"expected count, classes and shape in a JSON header, received: {error}") from error
    if not header.classes or min(header.count, *header.shape) < 1:
        raise file.wrong(16, f"expected count, classes and shape above 0, received {str(header)[:80]}")
    return header, 16 + length
