"""How long does netdyno take for a job that public tools do too? To write, read or decode a split in a format."""

import json
import multiprocessing
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from formats_side import serve

from netdyno.data.codecs.images import pixels_of
from netdyno.data.convert import Target, convert_split
from netdyno.data.formats.registry import formats, open_split
from netdyno.data.item import Item, PixelSource, Source

BLOCK = 2048  # images of one shape that are read at a time
Found = list[int]  # items, bytes, sum of labels

_source: Source | None = None  # of the other processes, which are forks
_items: list[Item] = []


def write(source: Path, target: Path, format_name: str, processes: int) -> None:
    """As `netdyno datasets convert` does."""
    wish = Target(format=format_name, folder=target, processes=processes)
    convert_split(open_split(source, "train"), "train", wish, lambda done, speed: None)


def read(source: Path, format_name: str) -> Found:
    """All of a split, opened anew."""
    split = formats()[format_name].open(source, "train")
    return part_read(split, 0, split.about.count)


def part_read(split: Source, first: int, last: int) -> Found:
    """Pixels in blocks, encoded images one by one as they are."""
    return blocks_read(split, first, last) if isinstance(split, PixelSource) else items_read(split, first, last)


def blocks_read(split: PixelSource, first: int, last: int) -> Found:
    size = labels_sum = 0
    for begin in range(first, last, BLOCK):
        images, labels = split.pixels(begin, min(begin + BLOCK, last))
        size, labels_sum = size + images.nbytes, labels_sum + int(labels.sum())
    return [last - first, size, labels_sum]


def items_read(split: Source, first: int, last: int) -> Found:
    size = labels = 0
    for index in range(first, last):
        item = split.item(index)
        size += len(item.encoded or b"")
        labels += item.label
    return [last - first, size, labels]


def read_part(first: int, last: int) -> Found:
    return part_read(_source, first, last)


def decode_part(first: int, last: int) -> Found:
    size = sum(pixels_of(item, 3).nbytes for item in _items[first:last])
    return [last - first, size, sum(item.label for item in _items[first:last])]


def on_all(part: Callable[[int, int], Found], count: int, processes: int) -> Callable[[], Found]:
    """Parts of a split at a time, in processes that wait for it."""
    if processes == 1:
        return lambda: part(0, count)
    pool = multiprocessing.get_context("fork").Pool(processes)
    bounds = [round(count * number / (4 * processes)) for number in range(4 * processes + 1)]
    return lambda: [sum(values) for values in zip(*pool.starmap(part, pairwise(bounds)), strict=True)]


def job(kind: str, format_name: str, source: Path, target: Path, processes: int) -> Callable[[], Found | None]:
    global _source
    if kind == "write":
        return lambda: write(source, target, format_name, processes)
    _source = formats()[format_name].open(source, "train")
    count = _source.about.count
    if kind == "decode":
        _items.extend(_source.item(index) for index in range(count))
        return on_all(decode_part, count, processes)
    return on_all(read_part, count, processes) if processes > 1 else lambda: read(source, format_name)


if __name__ == "__main__":
    kind, format_name, source, target, processes, expected = sys.argv[1:]
    serve(job(kind, format_name, Path(source), Path(target), int(processes)), target, json.loads(expected))
