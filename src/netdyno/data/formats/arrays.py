"""How are splits of pixels read? All items have the same size, so places are computed."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File
from netdyno.data.codecs.names import number_name
from netdyno.data.item import About, Images, Item, Labels, check_index, check_range
from netdyno.data.sidecar import check_labels, checked_label

LABELS_AT_ONCE = 2**22  # to be checked


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelArrays:
    """A split whose images follow each other from byte `images_at`, and its labels from `labels_at`."""

    about: About
    images: File
    images_at: int
    labels: File
    labels_at: int
    label_type: np.dtype[Any]  # unsigned, or little endian

    @property
    def place(self) -> Path:
        return self.images.path.parent

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.images.path)
        shape, label_bytes = self.about.shape or (), self.label_type.itemsize
        size = math.prod(shape)
        data = self.images.read(self.images_at + index * size, size)
        label = int.from_bytes(self.labels.read(self.labels_at + index * label_bytes, label_bytes), "little")
        if label >= len(self.about.classes):
            checked_label(label, self.about, f"{self.labels.path}, item {index}")
        return Item(name=number_name(index), label=label, pixels=np.frombuffer(data, np.uint8).reshape(shape))

    def pixels(self, first: int, last: int) -> tuple[Images, Labels]:
        check_range(first, last, self.about, self.images.path)
        shape = self.about.shape or ()
        size = math.prod(shape)
        data = self.images.read(self.images_at + first * size, (last - first) * size)
        labels = self._labels(first, last)
        check_labels(labels, self.about, f"{self.labels.path}, item", first)
        return np.frombuffer(data, np.uint8).reshape(last - first, *shape), labels.astype(np.int32)

    def check(self) -> "PixelArrays":
        """Refuse labels without a class; pixels can be anything."""
        size, where = self.label_type.itemsize, f"{self.labels.path}, byte"
        for first in range(0, self.about.count, LABELS_AT_ONCE):
            labels = self._labels(first, min(first + LABELS_AT_ONCE, self.about.count))
            check_labels(labels, self.about, where, self.labels_at + first * size, size)
        return self

    def _labels(self, first: int, last: int) -> NDArray[Any]:
        size = self.label_type.itemsize
        data = self.labels.read(self.labels_at + first * size, (last - first) * size)
        return np.frombuffer(data, self.label_type)
