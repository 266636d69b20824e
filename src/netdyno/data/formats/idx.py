"""IDX files, as MNIST has them: a file of images and a file of labels, each with its dimensions in front."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from netdyno.data.codecs.files import File
from netdyno.data.codecs.gzip_file import GzipFile
from netdyno.data.formats.arrays import LABELS_AT_ONCE, PixelArrays
from netdyno.data.item import SPLITS, About, Images, Labels
from netdyno.data.partial import Piece, begin_folder, is_unfinished
from netdyno.data.sidecar import about_items, sidecar_path, sidecar_piece
from netdyno.data.writer import PixelWriter, raw, shape_to_write
from netdyno.errors import NetdynoError

NAME = "idx"
_PREFIXES = {"train": "train", "test": "t10k"}
_UBYTE = 8  # the code of the only type of numbers that images and labels have


def find(root: Path) -> Sequence[str]:
    """The splits with both files, plain or compressed."""
    complete = [split for split in SPLITS if all(_find_file(root, split, kind) for kind in ("images", "labels"))]
    return [split for split in complete if not is_unfinished(root, NAME, split)]


def open(root: Path, split: str) -> PixelArrays:
    """Grey images have 2 dimensions each; 3 are height, width and channels. All labels are checked."""
    images, labels = _file(root, split, "images"), _file(root, split, "labels")
    count, *shape = _dimensions(images, (3, 4))
    (label_count,) = _dimensions(labels, (1,))
    if label_count != count:
        raise labels.wrong(4, f"expected {count} labels, one for each image, received {label_count}")
    known = about_items(sidecar_path(root, NAME, split), count, _highest_labels(labels, count))
    height, width, channels = (*shape, 1)[:3]
    about = replace(known, shape=(height, width, channels))
    if known.shape not in (None, about.shape):
        raise images.wrong(8, f"expected images of {known.shape} as the sidecar says, received {about.shape}")
    images_at = 4 + 4 * (1 + len(shape))
    return PixelArrays(
        about=about, images=images, images_at=images_at, labels=labels, labels_at=8, label_type=np.dtype(np.uint8)
    ).check()


def create(root: Path, split: str, about: About) -> PixelWriter:
    """Plain files; a sidecar keeps the names of the classes."""
    existing = [path for kind in ("images", "labels") if (path := _find_file(root, split, kind))]
    folder, shape = begin_folder(root, NAME, split, existing), shape_to_write(root, about, most_classes=256)
    dimensions = (about.count, *shape) if shape[2] > 1 else (about.count, *shape[:2])
    image_name = f"{_PREFIXES[split]}-images-idx{len(dimensions)}-ubyte"
    label_name = f"{_PREFIXES[split]}-labels-idx1-ubyte"
    head = [
        Piece(name=image_name, data=_head(dimensions)),
        Piece(name=label_name, data=_head((about.count,))),
        sidecar_piece(sidecar_path(root, NAME, split), about),
    ]

    def layout(_: int, images: Images, labels: Labels) -> list[Piece]:
        return [
            Piece(name=image_name, data=raw(images)),
            Piece(name=label_name, data=labels.astype(np.uint8).tobytes()),
        ]

    return PixelWriter(folder, about, layout, head)


def _find_file(root: Path, split: str, kind: str) -> Path | None:
    """Under the published name, the name that some tools unpack to (a dot for the second hyphen), or compressed."""
    ranks = (3, 4) if kind == "images" else (1,)
    stems = [f"{_PREFIXES[split]}-{kind}{mark}idx{rank}-ubyte" for rank in ranks for mark in "-."]
    paths = [root / (stem + end) for stem in stems for end in ("", ".gz")]
    return next((path for path in paths if path.is_file()), None)


def _file(root: Path, split: str, kind: str) -> File:
    path = _find_file(root, split, kind)
    if path is None:
        expected = f"{_PREFIXES[split]}-{kind}-idx{3 if kind == 'images' else 1}-ubyte or the same with .gz"
        raise NetdynoError(f"{root}: expected a file {expected}, received none.")
    return GzipFile(path, _announced_bytes) if path.suffix == ".gz" else File(path)


def _announced_bytes(head: bytes) -> int:
    """How many bytes a file has according to its header; 0 if that is none of an IDX file."""
    rank = head[3] if head.startswith(bytes((0, 0, _UBYTE))) and len(head) > 3 else 0
    if rank not in (1, 3, 4) or len(head) < 4 + 4 * rank:
        return 0
    return 4 + 4 * rank + math.prod(int(value) for value in np.frombuffer(head, ">u4", rank, 4))


def _dimensions(file: File, ranks: tuple[int, ...]) -> list[int]:
    """What the header says, if the file has the right size for it."""
    magic = file.read(0, 4)
    if magic[:3] != bytes((0, 0, _UBYTE)) or magic[3] not in ranks:
        expected = " or ".join(f"00 00 08 {rank:02x}" for rank in ranks)
        raise file.wrong(0, f"expected an IDX file of bytes that begins {expected}, received {magic.hex(' ')}")
    head = magic + file.read(4, 4 * magic[3])
    dimensions, expected_bytes = [int(value) for value in np.frombuffer(head, ">u4")[1:]], _announced_bytes(head)
    if min(dimensions) < 1 or (len(dimensions) == 4 and dimensions[3] not in (1, 3)):
        raise file.wrong(4, f"expected dimensions over 0 and 1 or 3 channels, received {dimensions}")
    if file.size != expected_bytes:
        sizes = "×".join(map(str, dimensions))
        raise file.wrong(4, f"expected {expected_bytes} bytes in all for {sizes}, received {file.size}")
    return dimensions


def _highest_labels(labels: File, count: int) -> Iterator[int]:
    """Of each block of them."""
    for first in range(0, count, LABELS_AT_ONCE):
        yield int(np.frombuffer(labels.read(8 + first, min(LABELS_AT_ONCE, count - first)), np.uint8).max())


def _head(dimensions: tuple[int, ...]) -> bytes:
    return bytes((0, 0, _UBYTE, len(dimensions))) + np.array(dimensions, ">u4").tobytes()
