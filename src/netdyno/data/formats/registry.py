"""Which formats there are, by the names users type, and which of them lies in a folder."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

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
from netdyno.data.item import Format, Source
from netdyno.errors import NetdynoError, unknown

_OF_PIXELS: tuple[Format, ...] = (idx, cifar, packed)
_OF_EITHER: tuple[Format, ...] = (lmdb_datum,)
_OF_ENCODED: tuple[Format, ...] = (tar_shards, recordio, tfrecord, cntk_map)
_ONLY_READ: tuple[Format, ...] = (cifar_pickle, ilsvrc)
# Looked for in this order: nearly every folder with images in it could be taken for one of these, so they are last.
_ALL = (*_OF_PIXELS, *_OF_EITHER, *_OF_ENCODED, *_ONLY_READ, image_folder)
_BY_NAME: Mapping[str, Format] = MappingProxyType({known.NAME: known for known in _ALL})


def formats() -> Mapping[str, Format]:
    """By name."""
    return _BY_NAME


def written_formats() -> list[str]:
    """Names of those that can also be written."""
    return [known.NAME for known in _ALL if known not in _ONLY_READ]


def needs_pixels(name: str) -> bool:
    """Whether images lie in it as plain numbers, all of one shape."""
    return name in [known.NAME for known in _OF_PIXELS]


def takes_pixels(name: str) -> bool:
    """Whether they may; elsewhere images stay as they were encoded."""
    return name in [known.NAME for known in (*_OF_PIXELS, *_OF_EITHER)]


def format_to_write(name: str) -> Format:
    """The format of that name, or an error with the nearest one that can be written."""
    if name not in written_formats():
        raise unknown("format to write", name, written_formats())
    return formats()[name]


def format_in(root: Path) -> Format:
    """The format of the dataset that lies in a folder."""
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
    splits = found.find(root)
    if split not in splits:
        raise NetdynoError(f"{root} ({found.NAME}): expected a {split} split, received {' and '.join(splits)} only.")
    return found.open(root, split)
