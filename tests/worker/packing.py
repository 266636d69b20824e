"""How a test writes a packed file, whole or with something wrong in it."""

import json
import struct

import numpy as np

ALIGNMENT = 4096


def pack(path, images, labels, classes=("a", "b", "c"), **changes):
    """A packed file of `images` (count, height, width, channels); `changes` replace what its header says."""
    images, labels = np.asarray(images, np.uint8), np.asarray(labels, "<i4")
    header = {"count": len(images), "classes": list(classes), "shape": list(images.shape[1:])}
    header.update(images_at=ALIGNMENT, labels_at=ALIGNMENT + images.nbytes)
    header.update(changes)
    text = json.dumps(header).encode("utf-8")
    start = b"NDPACK01" + struct.pack("<Q", len(text)) + text
    with open(path, "wb") as file:
        file.write(start + bytes(ALIGNMENT - len(start)) + images.tobytes() + labels.tobytes())
    return path


def numbered(count, side=4, channels=1):
    """Images whose every pixel is the image's number, and labels that go round through three classes."""
    images = np.empty((count, side, side, channels), np.uint8)
    images[...] = np.arange(count).reshape(-1, 1, 1, 1)
    return images, np.arange(count) % 3
