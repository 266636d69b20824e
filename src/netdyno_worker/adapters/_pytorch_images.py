"""How a file becomes pixels in the processes of PyTorch's DataLoader: read, decoded, cropped and flipped.

Pixels leave as bytes, height × width × channels: a quarter of what is scaled, and scaled where steps run.
"""

import io
import os
import time

import numpy as np
import torch
from PIL import Image
from torch.nn.functional import interpolate
from torch.utils.data import Dataset
from torch.utils.data.dataloader import default_collate

from netdyno_worker.adapters._pillow_images import random_window

SUFFIXES = (b".jpg", b".jpeg", b".png")
MARKS = (b"\xff\xd8\xff", b"\x89PNG")
RESIZES_BYTES = hasattr(torch, "compile")  # version 1.0 does not
STAGES = ("read_s", "decode_s", "transform_s")


class Images(Dataset):
    """(pixels, label, seconds of the stages) by number; for what is wrong with a file a text, not a traceback."""

    def __init__(self, files, inputs):
        self._folder = _folder(files)
        self._names, self._labels = _listed(self._folder)
        if len(self._names) != files.count:
            raise ValueError("'%s': expected %d images, received %d" % (self._folder, files.count, len(self._names)))
        self._rule = files.transforms
        self._shape = inputs.shape[1:] + inputs.shape[:1]
        self._mode = "L" if inputs.shape[0] == 1 else "RGB"
        self._random = None  # of each process its own, made there

    def __len__(self):
        return len(self._names)

    def __getitem__(self, index):
        if self._random is None:
            self._random = np.random.RandomState(torch.initial_seed() % 2**32)
        path = os.path.join(self._folder, os.fsdecode(bytes(self._names[index])))
        try:
            pixels, times = self._pixels(path)
        except Exception as error:  # of foreign bytes anything may be said
            return "'%s': expected a JPEG or PNG, received: %s" % (path, error)
        if pixels.shape != self._shape:
            return "'%s': expected an image of %s, received %s" % (path, self._shape, pixels.shape)
        return torch.from_numpy(pixels), int(self._labels[index]), np.diff(times)

    def _pixels(self, path):
        """And when each stage began and ended."""
        times = [time.perf_counter()]
        with open(path, "rb") as file:
            encoded = file.read()
        times.append(time.perf_counter())
        image = _decoded(encoded, self._mode)
        times.append(time.perf_counter())
        return self._transformed(image), times + [time.perf_counter()]

    def _transformed(self, image):
        if self._rule["crop"] is not None:
            image = image.crop(self._window(image.size))  # outside it is black
        if self._rule["flip"] and self._random.randint(2):
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        return _resized(image, self._rule["crop"]) if self._rule["resized"] else _array(image)

    def _window(self, size):
        """(left, top, right, bottom) of what is cropped."""
        if self._rule["resized"]:
            return random_window(size, self._random)
        crop, pad = self._rule["crop"], self._rule["pad"]
        if min(size) + 2 * pad < crop:
            raise ValueError("one of %d×%d, too small to crop" % size)
        left, top = (self._random.randint(length + 2 * pad - crop + 1) - pad for length in size)
        return left, top, left + crop, top + crop


def collated(items):
    """(pixels, labels, seconds) of a batch, or the first text among them."""
    for item in items:
        if isinstance(item, str):
            return item
    pixels, labels, seconds = zip(*items)
    return default_collate(pixels), torch.tensor(labels), np.sum(seconds, axis=0).tolist()


def _decoded(encoded, mode):
    if not encoded.startswith(MARKS):
        raise ValueError("%d bytes that begin '%s'" % (len(encoded), encoded[:4].hex()))
    image = Image.open(io.BytesIO(encoded))
    image.load()
    return image if image.mode == mode else image.convert(mode)


def _resized(image, side):
    """By PyTorch where it resizes bytes: it takes half as long as Pillow, and differs by what is rounded."""
    if not RESIZES_BYTES:
        return _array(image.resize((side, side), Image.BILINEAR))
    planes = torch.from_numpy(_array(image)).permute(2, 0, 1)[None]
    return interpolate(planes, (side, side), mode="bilinear", antialias=True)[0].permute(1, 2, 0).numpy()


def _array(image):
    return np.array(image).reshape(image.size[1], image.size[0], -1)


def _folder(files):
    """A split's folder; a folder of classes alone is a split to train with."""
    inside = os.path.join(files.root, files.split)
    return inside if os.path.isdir(inside) else files.root


def _listed(folder):
    """(names as class/file, labels): arrays, because processes copy what they only look at in Python's lists."""
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
