"""Which formats are there, and which of them does a folder hold?"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from netdyno.data.codecs.files import as_one_line
from netdyno.data.formats import (
    cifar,
    cifar_pickle,
    cntk_map,
    idx,
    ilsvrc,
    image_folder,
    lmdb_datum,
    packed,
    recordio,
    tar_shards,
    tfrecord,
)
from netdyno.data.item import Format, ReadFormat, Source
from netdyno.errors import NetdynoError, unknown

_OF_PIXELS: tuple[Format, ...] = (idx, cifar, packed)
_OF_EITHER: tuple[Format, ...] = (lmdb_datum,)
_OF_ENCODED: tuple[Format, ...] = (tar_shards.FORMAT, recordio.FORMAT, tfrecord.FORMAT, cntk_map.FORMAT)
_READ_ONLY: tuple[ReadFormat, ...] = (cifar_pickle, ilsvrc)
_WRITTEN: tuple[Format, ...] = (*_OF_PIXELS, *_OF_EITHER, *_OF_ENCODED, image_folder)
# In the order in which a folder is checked for them. Image folders are last: almost any folder of images is one.
_ALL: tuple[ReadFormat, ...] = (*_WRITTEN[:-1], *_READ_ONLY, image_folder)
_BY_NAME: Mapping[str, ReadFormat] = MappingProxyType({known.NAME: known for known in _ALL})


def formats() -> Mapping[str, ReadFormat]:
    return _BY_NAME


def written_formats() -> list[str]:
    return [known.NAME for known in _WRITTEN]


def needs_pixels(name: str) -> bool:
    """Whether a format stores pixels, all of one shape."""
    return name in [known.NAME for known in _OF_PIXELS]


def takes_pixels(name: str) -> bool:
    """Whether a format can store pixels; the others store encoded images."""
    return name in [known.NAME for known in (*_OF_PIXELS, *_OF_EITHER)]


def format_to_write(name: str) -> Format:
    """The format of that name; the error for an unknown name suggests the nearest one."""
    if name not in written_formats():
        raise unknown("format to write", name, written_formats())
    return next(known for known in _WRITTEN if name == known.NAME)


def format_in(root: Path) -> ReadFormat:
    """The format of the dataset that lies in a folder."""
    with as_one_line(root):
        if not root.is_dir():
            raise NetdynoError(
                f"{root}: expected a folder with a dataset, received {'a file' if root.exists() else 'none'}."
            )
        for found in formats().values():
            if found.find(root):
                return found
    raise NetdynoError(f"{root}: expected a dataset in one of the formats {', '.join(formats())}; none is there.")


def open_split(root: Path, split: str) -> Source:
    """A split of the dataset that lies in a folder."""
    found = format_in(root)
    with as_one_line(root):
        splits = found.find(root)
        if split not in splits:
            received = f"received {' and '.join(splits)} only"
            raise NetdynoError(f"{root} ({found.NAME}): expected a {split} split, {received}.")
        return found.open(root, split)
