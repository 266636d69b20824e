"""What every framework's own input pipeline needs: which inputs it fills, in which order, and where its time went."""

import time
from collections import namedtuple

import numpy as np

from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.sources import Shuffled

# Names of both inputs, the batch's size, (channels, height, width) of an image, the number of classes.
Filled = namedtuple("Filled", "images labels batch shape classes")


def filled_inputs(program, files):
    """The two inputs; raises ValueError where the files do not fit them."""
    images = [i for i in program.inputs if i.kind == "image" and i.dtype == "float"]
    labels = [i for i in program.inputs if len(i.shape) == 1 and i.dtype == "integer"]
    if len(images) != 1 or len(labels) != 1 or len(program.inputs) != 2:
        names = ", ".join("%s %s" % (i.name, list(i.shape)) for i in program.inputs)
        raise Unsupported("a pipeline feeds one input of images and one of labels, received inputs %s" % names)
    shape = images[0].shape
    found = Filled(images[0].name, labels[0].name, shape[0], tuple(shape[1:]), int(labels[0].draw["high"]))
    _check(found, files)
    return found


def _check(inputs, files):
    rule, (channels, height, width) = files.transforms, inputs.shape
    _expect(files, files.count >= inputs.batch, "at least a batch of %d images" % inputs.batch, files.count)
    _expect(files, files.classes <= inputs.classes, "at most %d classes" % inputs.classes, files.classes)
    for name in ("mean", "std"):
        _expect(files, len(rule[name]) == channels, "a %s for each of %d channels" % (name, channels), rule[name])
    fits = rule["crop"] is None or rule["crop"] == height == width
    _expect(files, fits, "crops of %d×%d" % (height, width), rule["crop"])
    _expect(files, not (rule["resized"] and rule["crop"] is None), "a crop to scale to", None)


def _expect(files, holds, expected, received):
    if not holds:
        raise ValueError("'%s', %s: expected %s, received %s" % (files.root, files.split, expected, received))


def scaling(rule):
    """(factors, offsets) of the channels, as float32: an input is a pixel's byte times the factor plus the offset."""
    mean, std = np.array(rule["mean"]), np.array(rule["std"])
    return (1.0 / (255.0 * std)).astype(np.float32), (-mean / std).astype(np.float32)


class Endless(object):
    """The numbers of each batch's images, epoch after epoch: processes need not wait for the end of an epoch."""

    def __init__(self, count, batch, seed):
        self._order = Shuffled(count, seed)
        self._batch = batch

    def __iter__(self):
        first = 0
        while True:
            yield self._order.indices(first, self._batch).tolist()
            first += self._batch


class Seconds(object):
    """Sums of seconds. A stage counts the time of all threads and processes together."""

    def __init__(self, stages=()):
        self._found = dict.fromkeys(tuple(stages) + ("wait_s",), 0.0)

    def add(self, stages, seconds):
        for stage, more in zip(stages, seconds):
            self._found[stage] += more

    def waited(self, function, *arguments):
        """Call the function, count its time as waiting, and return its result."""
        start = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self._found["wait_s"] += time.perf_counter() - start

    def so_far(self):
        return dict(self._found)
