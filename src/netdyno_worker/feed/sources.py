"""Where a network's batches come from: images of a packed file, or rows of arrays, in a seeded order.

A source has `size` (of a batch), `count` (of items), `labels_name` (of the input with a class for each item, or
None), `room()` (arrays by input name for one batch) and `make(number, room)`, which fills them and says how many
seconds reading and the rest took.
"""

import threading
import time

import numpy as np

from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.draws import draw
from netdyno_worker.feed.packed import open_packed
from netdyno_worker.feed.rows import ROWS, open_rows
from netdyno_worker.feed.transforms import Transform


def open_source(path, program, rule, seed=None, count=None):
    """Of the first `count` items, or all, of the file at `path`. With a seed the order is shuffled, and crops and
    flips are random, seeded by batch."""
    if path.endswith(ROWS):
        return RowBatches(open_rows(path), program, seed, count)
    return Batches(open_packed(path), program, rule, seed, count)


class Shuffled(object):
    """An endless order of `count` images: epoch e is a permutation seeded with seed + e, the next follows at once."""

    def __init__(self, count, seed):
        self._count = count
        self._seed = seed
        self._epochs = {}
        self._lock = threading.Lock()

    def indices(self, first, length):
        """Of the images at places first, first + 1, …"""
        parts = []
        while length > 0:
            epoch, place = divmod(first, self._count)
            parts.append(self._epoch(epoch)[place : place + length])
            first, length = first + len(parts[-1]), length - len(parts[-1])
        return np.concatenate(parts)

    def _epoch(self, number):
        with self._lock:
            if number not in self._epochs:
                self._epochs = {old: order for old, order in self._epochs.items() if old == number - 1}
                state = np.random.RandomState((self._seed + number) % 2**32)
                self._epochs[number] = state.permutation(self._count)
            return self._epochs[number]


class InTurn(object):
    """The order of the file, over and over."""

    def __init__(self, count):
        self._count = count

    def indices(self, first, length):
        return np.arange(first, first + length) % self._count


class Batches(object):
    """Images with a class each; other inputs are drawn."""

    def __init__(self, packed, program, rule, seed=None, count=None):
        images, labels, self._drawn = _inputs(program)
        self.size = images.shape[0]
        self.count = min(count or len(packed.images), len(packed.images))
        self.labels_name = labels and labels.name
        self._images_name = images.name
        self._shape = images.shape
        self._rows = packed.images.reshape(len(packed.images), -1)
        self._pixel_shape = packed.images.shape[1:]
        self._labels = packed.labels
        self._seed = seed
        self._order = _order(self.count, seed)
        self._transform = Transform(rule, self._pixel_shape, images.shape[1:])
        if labels:
            _expect_classes(packed, labels)

    def room(self):
        room = {self._images_name: np.empty(self._shape, np.float32)}
        if self.labels_name:
            room[self.labels_name] = np.empty(self.size, np.int32)
        return room

    def make(self, number, room):
        start = time.perf_counter()
        chosen = self._order.indices(number * self.size, self.size)
        pixels = self._rows[chosen].reshape(
            (self.size,) + self._pixel_shape
        )  # old NumPys' take copies the whole file
        if self.labels_name:
            room[self.labels_name][...] = self._labels[chosen]
        read = time.perf_counter()
        random = None if self._seed is None else np.random.RandomState([self._seed % 2**32, number])
        self._transform.apply(pixels, room[self._images_name], random)
        _draw(self._drawn, room, self._seed, number)
        return read - start, time.perf_counter() - read


class RowBatches(object):
    """Rows of several arrays at once, each an input's; other inputs are drawn."""

    labels_name = None

    def __init__(self, rows, program, seed=None, count=None):
        self._inputs = [i for i in program.inputs if i.name in rows.arrays]
        self._drawn = [i for i in program.inputs if i.name not in rows.arrays]
        _expect_rows(rows, self._inputs, self._drawn)
        self.size = self._inputs[0].shape[0]
        self.count = min(count or rows.count, rows.count)
        self._arrays = rows.arrays
        self._seed = seed
        self._order = _order(self.count, seed)
        labels = [i.name for i in self._inputs if i.name == "labels" and len(i.shape) == 1]
        self.labels_name = labels[0] if labels else None

    def room(self):
        return {i.name: np.empty(i.shape, np.int32) for i in self._inputs}

    def make(self, number, room):
        start = time.perf_counter()
        chosen = self._order.indices(number * self.size, self.size)
        for source in self._inputs:
            room[source.name][...] = self._arrays[source.name][chosen]
        read = time.perf_counter()
        _draw(self._drawn, room, self._seed, number)
        return read - start, time.perf_counter() - read


def _order(count, seed):
    return InTurn(count) if seed is None else Shuffled(count, seed)


def _draw(drawn, room, seed, number):
    """What no file has, such as the codes of a generator: the same for a batch of a number, whoever makes it."""
    for source in drawn:
        room[source.name] = draw(source.draw, "batch/%d/%s" % (number, source.name), source.shape, seed or 0)


def _inputs(program):
    """The images and the labels, or None, among a program's inputs, and those that are drawn."""
    images = [i for i in program.inputs if i.kind == "image" and i.dtype == "float"]
    labels = [i for i in program.inputs if len(i.shape) == 1 and i.dtype == "integer"]
    drawn = [i for i in program.inputs if i not in images and i.dtype == "float"]
    if len(images) != 1 or len(labels) > 1 or len(images + labels + drawn) < len(program.inputs):
        names = ", ".join("%s %s" % (i.name, list(i.shape)) for i in program.inputs)
        raise Unsupported("packed images feed one input of images and one of labels, received inputs %s" % names)
    return images[0], labels[0] if labels else None, drawn


def _expect_classes(packed, labels):
    """A label beyond the network's classes would be read from anywhere by some frameworks."""
    classes, known = int(labels.draw["high"]), len(packed.classes)
    if known > classes:
        raise ValueError("'%s': expected at most %d classes, received %d" % (packed.path, classes, known))


def _expect_rows(rows, inputs, drawn):
    """Rows as the network wants them, and no number that it does not know."""
    missing = [i.name for i in drawn if i.dtype == "integer"] or ([] if inputs else ["any input"])
    if missing:
        names = ", ".join(missing), ", ".join(sorted(rows.arrays))
        raise ValueError("'%s': expected rows for %s, received %s" % ((rows.path,) + names))
    for source in inputs:
        array = rows.arrays[source.name]
        if array.shape[1:] != source.shape[1:]:
            shapes = list(source.shape[1:]), list(array.shape[1:])
            raise ValueError("'%s', %s: expected rows of %s, received %s" % ((rows.path, source.name) + shapes))
        high = int(source.draw["high"])
        if array.size and int(array.max()) >= high:
            raise ValueError(
                "'%s', %s: expected numbers below %d, received %d" % (rows.path, source.name, high, array.max())
            )
