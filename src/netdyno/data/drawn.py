"""How are images drawn instead of fetched? Each from its number alone, so that a network can learn what they show.

A class is a number, written with ten figures instead of digits: one figure for up to 10 classes, two for 100, three
for 1000. Position, size and colours of figure and background vary from image to image, so that no single pixel gives
a class away; noise is added to everything.

Only integers are computed, so every machine and every NumPy draws the same bytes.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netdyno.data.item import About, Item, Pixels, check_index
from netdyno.errors import NetdynoError

Whole = NDArray[np.int64]
Figure = Callable[[Whole, Whole], NDArray[np.bool_]]

UNIT = 1024  # a figure's own coordinates go from -UNIT to UNIT, right and down
LEAST_CONTRAST = 80  # of 255, between a figure and what is behind it
NOISE = 20
_thread = threading.local()
SPLIT_SEEDS = {"train": 0, "test": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """A split of drawn images."""

    about: About
    split: str
    seed: int = 0

    def __post_init__(self) -> None:
        if self.about.shape is None or self.about.shape[2] not in (1, 3):
            raise NetdynoError(f"expected a shape with 1 or 3 channels to draw, received {self.about.shape}.")
        if min(self.about.shape[:2]) < 8 * _figures_of(len(self.about.classes)):
            raise NetdynoError(f"expected room for 8 pixels a figure, received images of {self.about.shape}.")
        if self.split not in SPLIT_SEEDS:
            raise NetdynoError(f"expected a split of {' or '.join(SPLIT_SEEDS)}, received '{self.split}'.")

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.split)
        draw = _seeded(_mixed(self.seed, SPLIT_SEEDS[self.split], index))
        label = int(draw.randint(len(self.about.classes)))
        return Item(name=str(index), label=label, pixels=_drawn(draw, label, self.about))


def class_names(count: int) -> tuple[str, ...]:
    """Such as `ring`, or `disc ring cross` where there are more than ten."""
    names, digits = list(FIGURES), _figures_of(count)
    return tuple(" ".join(names[digit] for digit in _digits(label, digits)) for label in range(count))


def _drawn(draw: np.random.RandomState, label: int, about: About) -> Pixels:
    height, width, channels = about.shape or (0, 0, 0)
    background, colour = _colours(draw, channels)
    image = np.empty((height, width, channels), np.int64)
    image[:] = background
    digits = _digits(label, _figures_of(len(about.classes)))
    cell = width // len(digits)
    for place, digit in enumerate(digits):
        rows, columns = _coordinates(draw, height, cell)
        mask = list(FIGURES.values())[digit](columns, rows)
        image[:, place * cell : (place + 1) * cell][mask] = colour
    image += draw.randint(-NOISE, NOISE + 1, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def _colours(draw: np.random.RandomState, channels: int) -> tuple[Whole, Whole]:
    """Background and figure, which is clearly brighter in every channel."""
    low = draw.randint(0, 256 - LEAST_CONTRAST, channels)
    high = (
        low + LEAST_CONTRAST + draw.randint(0, 256 - LEAST_CONTRAST, channels) * (255 - LEAST_CONTRAST - low) // 255
    )
    return low, high


def _coordinates(draw: np.random.RandomState, height: int, width: int) -> tuple[Whole, Whole]:
    """The pixels in coordinates of a figure that takes half to nine tenths of the room, at a random position."""
    room = min(height, width)
    size = max(6, room * int(draw.randint(50, 91)) // 100)
    top, left = int(draw.randint(0, height - size + 1)), int(draw.randint(0, width - size + 1))
    rows = (2 * (np.arange(height)[:, None] - top) + 1 - size) * UNIT // size
    columns = (2 * (np.arange(width)[None, :] - left) + 1 - size) * UNIT // size
    return rows, columns


def _inside(x: Whole, y: Whole) -> NDArray[np.bool_]:
    return (abs(x) <= UNIT) & (abs(y) <= UNIT)


FIGURES: dict[str, Figure] = {
    "disc": lambda x, y: x * x + y * y <= UNIT * UNIT,
    "ring": lambda x, y: (x * x + y * y <= UNIT * UNIT) & (x * x + y * y >= (UNIT * 6 // 10) ** 2),
    "square": lambda x, y: _inside(x, y),
    "frame": lambda x, y: _inside(x, y) & ((abs(x) > UNIT * 6 // 10) | (abs(y) > UNIT * 6 // 10)),
    "triangle": lambda x, y: _inside(x, y) & (2 * abs(x) <= y + UNIT),
    "diamond": lambda x, y: abs(x) + abs(y) <= UNIT,
    "cross": lambda x, y: _inside(x, y) & ((abs(x) <= UNIT // 4) | (abs(y) <= UNIT // 4)),
    "saltire": lambda x, y: _inside(x, y) & (abs(abs(x) - abs(y)) <= UNIT * 4 // 10),
    "rows": lambda x, y: _inside(x, y) & ((y + UNIT) * 5 // (2 * UNIT + 1) % 2 == 0),
    "columns": lambda x, y: _inside(x, y) & ((x + UNIT) * 5 // (2 * UNIT + 1) % 2 == 0),
}


def _seeded(seed: int) -> np.random.RandomState:
    """One generator per thread, seeded again for each image: creating one takes longer than drawing."""
    if not hasattr(_thread, "draw"):
        _thread.draw = np.random.RandomState()
    draw: np.random.RandomState = _thread.draw
    draw.seed(seed)
    return draw


def _figures_of(classes: int) -> int:
    return len(str(max(classes, 1) - 1))


def _digits(label: int, count: int) -> list[int]:
    return [int(digit) for digit in f"{label:0{count}d}"]


def _mixed(seed: int, split: int, index: int) -> int:
    """Neighbouring numbers give unrelated seeds: each step spreads its bits over all 32."""
    mixed = 0x2545F491
    for value in (seed & 0xFFFFFFFF, split, index & 0xFFFFFFFF):
        mixed = (mixed ^ value) * 0x9E3779B1 & 0xFFFFFFFF
        mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & 0xFFFFFFFF
        mixed ^= mixed >> 13
    return mixed
