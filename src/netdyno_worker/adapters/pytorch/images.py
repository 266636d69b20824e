"""How a file becomes pixels in the processes of PyTorch's DataLoader: read, decoded, cropped and flipped.

Pixels leave as bytes, height × width × channels: a quarter of what is scaled, and scaled where steps run.
"""

import numpy as np
import torch
from PIL import Image
from torch.nn.functional import interpolate
from torch.utils.data import Dataset
from torch.utils.data.dataloader import default_collate

from netdyno_worker.adapters.kit.pillow import Folder, expect_shape, mode_of, random_window

RESIZES_BYTES = hasattr(torch, "compile")  # version 1.0 does not


class Images(Dataset):
    """(pixels, label, seconds of the stages) by number; a text about a file that cannot be read."""

    def __init__(self, files, inputs):
        self._folder = Folder(files)
        self._rule = files.transforms
        self._shape = inputs.shape[1:] + inputs.shape[:1]
        self._mode = mode_of(inputs.shape)
        self._random = None  # each process makes its own

    def __len__(self):
        return len(self._folder)

    def __getitem__(self, index):
        if self._random is None:
            self._random = np.random.RandomState(torch.initial_seed() % 2**32)
        try:
            pixels, seconds = self._folder.load(index, self._mode, self._transformed)
        except ValueError as error:
            return str(error)
        return torch.from_numpy(pixels), self._folder.label(index), seconds

    def _transformed(self, image):
        if self._rule["crop"] is not None:
            image = image.crop(random_window(image.size, self._rule, self._random))
        if self._rule["flip"] and self._random.randint(2):
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        pixels = _resized(image, self._rule["crop"]) if self._rule["resized"] else _array(image)
        expect_shape(pixels, self._shape)
        return pixels


def collated(items):
    """(pixels, labels, seconds) of a batch, or the first text among them."""
    for item in items:
        if isinstance(item, str):
            return item
    pixels, labels, seconds = zip(*items)
    return default_collate(pixels), torch.tensor(labels), np.sum(seconds, axis=0).tolist()


def _resized(image, side):
    """By PyTorch where it resizes bytes: it takes half as long as Pillow, and differs only by rounding."""
    if not RESIZES_BYTES:
        return _array(image.resize((side, side), Image.BILINEAR))
    planes = torch.from_numpy(_array(image)).permute(2, 0, 1)[None]
    return interpolate(planes, (side, side), mode="bilinear", antialias=True)[0].permute(1, 2, 0).numpy()


def _array(image):
    return np.array(image).reshape(image.size[1], image.size[0], -1)
