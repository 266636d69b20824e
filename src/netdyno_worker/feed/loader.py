"""Where a network's batches come from: images of a packed file in a seeded order, made by threads ahead of time."""

import threading
import time
from collections import namedtuple

import numpy as np

from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.transforms import Transform

# Room for one batch as the network wants it.
Slot = namedtuple("Slot", "images labels")


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
    """Makes any batch of a split by its number. With a seed crops and flips are random, seeded by batch."""

    def __init__(self, packed, program, rule, seed=None):
        images, labels = _inputs(program)
        self.size = images.shape[0]
        self.count = len(packed.images)
        self.images_name, self.labels_name = images.name, labels.name
        self._shape = images.shape
        self._rows = packed.images.reshape(self.count, -1)
        self._pixel_shape = packed.images.shape[1:]
        self._labels = packed.labels
        self._seed = seed
        self._order = InTurn(self.count) if seed is None else Shuffled(self.count, seed)
        self._transform = Transform(rule, self._pixel_shape, images.shape[1:])
        _expect_classes(packed, labels)

    def room(self):
        return Slot(np.empty(self._shape, np.float32), np.empty(self.size, np.int32))

    def make(self, number, slot):
        """Fill the slot; the seconds that it took to read and to transform."""
        start = time.perf_counter()
        chosen = self._order.indices(number * self.size, self.size)
        pixels = self._rows[chosen].reshape(
            (self.size,) + self._pixel_shape
        )  # old NumPys' take copies the whole file
        slot.labels[...] = self._labels[chosen]
        read = time.perf_counter()
        random = None if self._seed is None else np.random.RandomState([self._seed % 2**32, number])
        self._transform.apply(pixels, slot.images, random)
        return read - start, time.perf_counter() - read

    def named(self, slot):
        return {self.images_name: slot.images, self.labels_name: slot.labels}


class Loader(object):
    """Threads that make batches 0, 1, 2, … ahead of who takes them, in a fixed number of slots."""

    def __init__(self, batches, threads):
        self._batches = batches
        self._changed = threading.Condition()
        self._free = [batches.room() for _ in range(2 * threads + 1)]
        self._ready = {}  # {number: slot, or the error that came instead}
        self._held = None  # the slot that was taken last
        self._claimed = self._taken = 0
        self._stopped = False
        self._seconds = {"read_s": 0.0, "transform_s": 0.0, "wait_s": 0.0}
        self._threads = [threading.Thread(target=self._work) for _ in range(threads)]
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def take(self):
        """The next batch {input name: array}, whose memory is used again when another is taken."""
        start = time.perf_counter()
        with self._changed:
            self._give_back()
            while self._taken not in self._ready:
                if self._stopped:
                    raise RuntimeError("expected a loader at work, received one that was stopped")
                self._changed.wait()
            self._held = self._ready.pop(self._taken)
            self._taken += 1
            self._seconds["wait_s"] += time.perf_counter() - start
        if isinstance(self._held, Exception):
            raise self._held
        return self._batches.named(self._held)

    def seconds(self):
        """{"read_s", "transform_s": of all threads together, "wait_s": of who took}."""
        with self._changed:
            return dict(self._seconds)

    def stop(self):
        """Threads end behind the batch that they are at; it is waited for."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _give_back(self):
        if isinstance(self._held, Slot):
            self._free.append(self._held)
            self._held = None
            self._changed.notify_all()

    def _work(self):
        claim = self._claim()
        while claim is not None:
            number, slot = claim
            try:
                read_s, transform_s = self._batches.make(number, slot)
            except Exception as error:  # it reaches who takes this batch
                self._put(number, error)
                return
            self._put(number, slot, read_s, transform_s)
            claim = self._claim()

    def _claim(self):
        """The next number and room for its batch, claimed together so that the lowest number always has room."""
        with self._changed:
            while not self._free and not self._stopped:
                self._changed.wait()
            if self._stopped:
                return None
            self._claimed += 1
            return self._claimed - 1, self._free.pop()

    def _put(self, number, result, read_s=0.0, transform_s=0.0):
        with self._changed:
            self._ready[number] = result
            self._seconds["read_s"] += read_s
            self._seconds["transform_s"] += transform_s
            self._changed.notify_all()


def _inputs(program):
    """The images and the labels among a program's inputs."""
    images = [i for i in program.inputs if i.kind == "image" and i.dtype == "float"]
    labels = [i for i in program.inputs if len(i.shape) == 1 and i.dtype == "integer"]
    if len(images) != 1 or len(labels) != 1 or len(program.inputs) != 2:
        names = ", ".join("%s %s" % (i.name, list(i.shape)) for i in program.inputs)
        raise Unsupported("packed data feeds one input of images and one of labels, received inputs %s" % names)
    return images[0], labels[0]


def _expect_classes(packed, labels):
    """A label beyond the network's classes would be read from anywhere by some frameworks."""
    classes, known = int(labels.draw["high"]), len(packed.classes)
    if known > classes:
        raise ValueError("'%s': expected at most %d classes, received %d" % (packed.path, classes, known))
