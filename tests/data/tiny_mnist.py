"""A set so small that it is learned in seconds: bright squares whose place is the label, in MNIST's shape."""

import shutil
from pathlib import Path

import numpy as np

from netdyno.data.formats import packed
from netdyno.data.item import About, Item

CLASSES = tuple("0123456789")


def pack(home: Path, counts: tuple[tuple[str, int], ...] = (("train", 64), ("test", 20)), first: int = 0) -> None:
    """Where a packed MNIST would lie."""
    folder = home / "datasets" / "mnist" / "packed"
    shutil.rmtree(folder, ignore_errors=True)
    for split, count in counts:
        writer = packed.create(folder, split, About(count=count, classes=CLASSES, shape=(28, 28, 1)))
        writer.write([_item(index) for index in range(first, first + count)])
        writer.finish()


def _item(index: int) -> Item:
    label = index % 10
    pixels = np.full((28, 28, 1), index % 7, np.uint8)
    top, left = 5 * (label // 5) + 6, 5 * (label % 5) + 1
    pixels[top : top + 4, left : left + 4] = 250
    return Item(name=str(index), label=label, pixels=pixels)
