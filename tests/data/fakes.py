"""Sources and writers that hold everything in memory, so that a conversion can be looked at from both ends."""

import os
import time
from dataclasses import dataclass, field

import numpy as np

from netdyno.data.item import About, Item
from netdyno.errors import NetdynoError

SHAPE = (6, 5, 1)


@dataclass(frozen=True)
class Numbered:
    """Item n shows n; one of them may be bad, or kill the process that reads it. Other processes can read it too."""

    about: About
    bad: int = -1
    deadly: int = -1
    pause_s: float = 0.0

    def item(self, index: int) -> Item:
        time.sleep(self.pause_s)
        if index == self.bad:
            raise NetdynoError(f"file.bin, item {index}: expected an image, received none.", hint="Mend it.")
        if index == self.deadly:
            os._exit(9)
        return Item(name=str(index), label=index % 3, pixels=np.full(SHAPE, index % 256, np.uint8))


def numbered(count, **more):
    return Numbered(About(count=count, classes=("a", "b", "c"), shape=SHAPE), **more)


@dataclass
class Kept:
    """Keeps what it is given; `full_at` items fit on its disk."""

    wants_pixels: bool = True
    items: list[Item] = field(default_factory=list)
    full_at: int = 1 << 60
    finished: bool = False
    largest_write: int = 0

    @property
    def done(self):
        return len(self.items)

    def write(self, items):
        if self.done + len(items) > self.full_at:
            raise NetdynoError("train.x: no space left on device.")
        self.items += items
        self.largest_write = max(self.largest_write, len(items))

    def finish(self):
        self.finished = True

    def close(self):
        return

    def discard(self):
        self.items.clear()


def nothing(*_):
    """A progress that nobody follows."""
