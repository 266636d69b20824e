"""How image files become arrays where a framework leaves that to Pillow and to its user."""

import io
import math
import os
import time

import numpy as np
from PIL import Image

from netdyno_worker.adapters.kit.pipeline import scaling

SUFFIXES = (b".jpg", b".jpeg", b".png")
MARKS = (b"\xff\xd8\xff", b"\x89PNG")
STAGES = ("read_s", "decode_s", "transform_s")
TRIES = 10  # to find a window that fits in the image


class Folder(object):
    """The images of a split: a folder for each class, numbered by name.

    Names are kept in one array: processes that only read a Python list copy its memory all the same.
    """

    def __init__(self, files):
        inside = os.path.join(files.root, files.split)
        self._folder = inside if os.path.isdir(inside) else files.root  # of classes alone: it is all to train with
        self._names, self._labels = _listed(self._folder)
        if len(self._names) != files.count:
            raise ValueError("'%s': expected %d images, received %d" % (self._folder, files.count, len(self._names)))

    def __len__(self):
        return len(self._names)

    def label(self, index):
        return int(self._labels[index])

    def load(self, index, mode, transform):
        """(what `transform` makes of the image, seconds of the stages); raises ValueError if it is no image."""
        path = os.path.join(self._folder, os.fsdecode(bytes(self._names[index])))
        found, times = path, [time.perf_counter()]
        for stage in (_read, lambda encoded: _decoded(encoded, mode), transform):
            try:
                found = stage(found)
            except Exception as error:  # decoders raise anything on damaged files
                raise ValueError("'%s': %s" % (path, error))
            times.append(time.perf_counter())
        return found, np.diff(times).tolist()


class Augmentation(object):
    """Crops, flips and scales as files' transforms say; `shape` is (channels, height, width) of what comes out."""

    def __init__(self, rule, shape):
        self._rule = rule
        self._shape = shape
        self._factors, self._offsets = (values.reshape(-1, 1, 1) for values in scaling(rule))

    def apply(self, image, random):
        """As float32, channel by channel; `random` is a numpy RandomState."""
        image = self._cropped(image, random)
        if self._rule["flip"] and random.randint(2):
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        pixels = np.asarray(image).reshape(image.size[1], image.size[0], -1)
        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1))  # while they are bytes, which is faster
        scaled = np.multiply(planes, self._factors, dtype=np.float32)
        scaled += self._offsets
        expect_shape(scaled, self._shape)
        return scaled

    def _cropped(self, image, random):
        crop = self._rule["crop"]
        if crop is None:
            return image
        window = random_window(image.size, self._rule, random)
        return image.resize((crop, crop), Image.BILINEAR, window) if self._rule["resized"] else image.crop(window)


def expect_shape(array, shape):
    if array.shape != shape:
        raise ValueError("expected an image of %s, received %s" % (shape, array.shape))


def mode_of(shape):
    """Pillow's mode for that many channels."""
    return "L" if shape[0] == 1 else "RGB"


def random_window(size, rule, random):
    """(left, top, right, bottom) of what is cropped; outside the image it is black."""
    return _window_to_scale(size, random) if rule["resized"] else _window_of_crop(size, rule, random)


def _window_of_crop(size, rule, random):
    crop, pad = rule["crop"], rule["pad"]
    spare = [length + 2 * pad - crop for length in size]
    if min(spare) < 0:
        raise ValueError("expected at least %d pixels a side, received %s" % (crop - 2 * pad, size))
    left, top = (random.randint(more + 1) - pad for more in spare)
    return left, top, left + crop, top + crop


def _window_to_scale(size, random):
    """8 to 100 % of the area, of an aspect between 3/4 and 4/3; else the whole."""
    for _ in range(TRIES):
        area = random.uniform(0.08, 1.0) * size[0] * size[1]
        aspect = math.exp(random.uniform(math.log(3.0 / 4.0), math.log(4.0 / 3.0)))
        width, height = int(round(math.sqrt(area * aspect))), int(round(math.sqrt(area / aspect)))
        if 0 < width <= size[0] and 0 < height <= size[1]:
            left, top = random.randint(size[0] - width + 1), random.randint(size[1] - height + 1)
            return left, top, left + width, top + height
    return (0, 0) + tuple(size)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _decoded(encoded, mode):
    if not encoded.startswith(MARKS):
        begins = encoded[:4].hex()
        raise ValueError("expected a JPEG or PNG, received %d bytes that begin '%s'" % (len(encoded), begins))
    try:
        with Image.open(io.BytesIO(encoded)) as image:
            return image.convert(mode)
    except Exception as error:
        raise ValueError("expected a JPEG or PNG, received: %s" % error)


def _listed(folder):
    """(names as class/file, labels)."""
    classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and _is_plain(entry.name))
    names, labels = [], []
    for label, name in enumerate(classes):
        inside = sorted(os.listdir(os.fsencode(os.path.join(folder, name))))
        found = [file for file in inside if file.lower().endswith(SUFFIXES) and not file.startswith(b".")]
        names += [os.path.join(os.fsencode(name), file) for file in found]
        labels += [label] * len(found)
    return np.array(names, np.bytes_), np.array(labels, np.int64)


def _is_plain(name):
    return not (name.startswith(".") or name.endswith(".partial"))
