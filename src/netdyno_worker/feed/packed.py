"""What a packed file holds: the images and labels of a split, mapped into memory and checked before they are used."""

import json
import os
import struct
from collections import namedtuple

import numpy as np

MAGIC = b"NDPACK01"
ALIGNMENT = 4096  # bytes: where the images may begin
MOST_HEADER_BYTES = 1 << 26  # names of classes take kilobytes; a longer header is a lie
NUMBERS = ("count", "images_at", "labels_at")

# images: (count, height, width, channels) of uint8. labels: (count,) of int32. classes: what the labels mean.
Packed = namedtuple("Packed", "path images labels classes")


def open_packed(path):
    """Both arrays lie in the file and are read when they are touched; what is wrong with it is a ValueError."""
    size = os.path.getsize(path)
    header = _header(path, size)
    _check_places(path, header, size)
    images = _mapped(path, np.uint8, header["images_at"], [header["count"]] + header["shape"])
    labels = _mapped(path, np.dtype("<i4"), header["labels_at"], [header["count"]])
    _check_labels(path, labels, len(header["classes"]))
    return Packed(path, images, labels, header["classes"])


def _header(path, size):
    with open(path, "rb") as file:
        start = file.read(16)
        _expect(start[:8] == MAGIC, path, "the magic %r at byte 0" % MAGIC, repr(start[:8]))
        _expect(len(start) == 16, path, "the length of a header at byte 8", "the end of the file")
        length = struct.unpack("<Q", start[8:])[0]
        room = min(size - 16, MOST_HEADER_BYTES)
        _expect(length <= room, path, "a header of at most %d bytes at byte 16" % room, "a length of %d" % length)
        text = file.read(length)
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError("'%s': expected a header in JSON at byte 16, received %s" % (path, error))
    _check_header(path, header)
    _expect(header["images_at"] >= 16 + length, path, "images behind the header", "%(images_at)d" % header)
    return header


def _check_header(path, header):
    known = set(NUMBERS) | {"classes", "shape"}
    missing = sorted(known.difference(header)) if isinstance(header, dict) else sorted(known)
    _expect(not missing, path, "a header with %s" % ", ".join(sorted(known)), "none with %s" % ", ".join(missing))
    for name in NUMBERS:
        _expect(_counts(header[name]), path, "a whole number over 0 as %s" % name, repr(header[name]))
    shape, classes = header["shape"], header["classes"]
    sound = isinstance(shape, list) and len(shape) == 3 and all(_counts(side) for side in shape)
    _expect(sound, path, "a shape of height, width and channels", repr(shape)[:100])
    sound = isinstance(classes, list) and classes and all(isinstance(name, str) for name in classes)
    _expect(sound, path, "the names of the classes", repr(classes)[:100])


def _check_places(path, header, size):
    height, width, channels = header["shape"]
    labels_at = header["images_at"] + header["count"] * height * width * channels
    aligned = header["images_at"] % ALIGNMENT == 0
    _expect(aligned, path, "images at a multiple of %d bytes" % ALIGNMENT, header["images_at"])
    what = "%d images of %dx%dx%d" % (header["count"], height, width, channels)
    _expect(
        header["labels_at"] == labels_at, path, "labels at byte %d behind %s" % (labels_at, what), header["labels_at"]
    )
    whole = labels_at + 4 * header["count"]
    _expect(size == whole, path, "%d bytes for %s and their labels" % (whole, what), "%d bytes" % size)


def _check_labels(path, labels, classes):
    wrong = np.flatnonzero((labels < 0) | (labels >= classes))
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            "'%s', image %d: expected a label in 0..%d, received %d" % (path, first, classes - 1, labels[first])
        )


def _mapped(path, kind, offset, shape):
    """As a plain array, whose slices cost less than those of numpy's own class for mapped files."""
    return np.asarray(np.memmap(path, dtype=kind, mode="r", offset=offset, shape=tuple(shape)))


def _counts(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _expect(holds, path, expected, received):
    if not holds:
        raise ValueError("'%s': expected %s, received %s" % (path, expected, received))
