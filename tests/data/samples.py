"""Small images with labels, and how a format writes and reads them."""

import io
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from netdyno.data.item import About, Item

CLASSES = ("ant", "bee", "cat")
RECORD_MARK = bytes.fromhex("0a23d7ce")


def encoded_items(count: int, kind: str = "JPEG") -> list[Item]:
    """Images of different sizes, grey ones among them; some hold bytes that a format uses as its mark."""
    return [_encoded_item(index, kind) for index in range(count)]


def pixel_items(count: int, shape: tuple[int, int, int] = (5, 4, 3)) -> list[Item]:
    draws = np.random.RandomState(7)
    return [
        Item(name=str(index), label=index % len(CLASSES), pixels=draws.randint(0, 256, shape).astype(np.uint8))
        for index in range(count)
    ]


def about(items: list[Item]) -> About:
    shape = items[0].pixels.shape if items and items[0].pixels is not None else None
    return About(count=len(items), classes=CLASSES, shape=shape)


def write(module, root: Path, items: list[Item], batch: int = 4) -> None:
    """As a train split."""
    writer = module.create(root, "train", about(items))
    for begin in range(writer.done, len(items), batch):
        writer.write(items[begin : begin + batch])
    writer.finish()


def read(module, root: Path) -> list[Item]:
    source = module.open(root, "train")
    return [source.item(index) for index in range(source.about.count)]


def contents(items: list[Item]) -> list[tuple]:
    """What must be the same whatever the format."""
    return [(item.label, item.encoded, None if item.pixels is None else item.pixels.tolist()) for item in items]


def _encoded_item(index: int, kind: str) -> Item:
    draws = np.random.RandomState(index)
    height, width = draws.randint(3, 20, 2)
    grey = index % 3 == 1
    pixels = draws.randint(0, 256, (height, width) if grey else (height, width, 3)).astype(np.uint8)
    file = io.BytesIO()
    marks = {"comment": b"".join(RECORD_MARK + b"x" for _ in range(4))} if kind == "JPEG" and index % 2 else {}
    Image.fromarray(pixels).save(file, kind, **marks)
    suffix = "JPEG" if kind == "JPEG" else "png"
    return Item(name=f"image-{index}.{suffix}", label=index % len(CLASSES), encoded=file.getvalue())


def renamed(item: Item, name: str) -> Item:
    return replace(item, name=name)


@contextmanager
def most_memory(most_bytes: int) -> Iterator[None]:
    """Fail if more is allocated at a time."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= most_bytes
