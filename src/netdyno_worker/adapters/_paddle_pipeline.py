"""How Paddle feeds itself: a DataLoader over a folder of images, whose processes open and transform them ahead."""

import os
import random

import numpy as np
from paddle.io import BatchSampler, DataLoader
from paddle.vision import transforms
from paddle.vision.datasets import DatasetFolder

from netdyno_worker.adapters._pillow_images import opened
from netdyno_worker.loader import Shuffled


class FolderPipeline(object):
    """Batches from a folder for each class, as tensors where the trainer computes."""

    def __init__(self, files, inputs, place):
        """`place` takes {input name: tensor}."""
        self._names = inputs.images, inputs.labels
        self._place = place
        self._batches = iter(
            DataLoader(
                _folder(files, inputs.shape),
                batch_sampler=Endless(files.count, inputs.batch, files.seed),
                num_workers=files.threads,
                worker_init_fn=Seeded(files.seed),
                prefetch_factor=4,
            )
        )
        self.notes = {"order": "shuffled anew in each epoch", "decode": "Pillow, in processes"}

    def feed(self):
        self._place(dict(zip(self._names, next(self._batches))))

    def skip(self):
        next(self._batches)

    def seconds(self):
        """Paddle tells nothing of its stages."""
        return {}

    def close(self):
        """Processes and threads end with the iterator."""
        self._batches = None


class Endless(BatchSampler):
    """The numbers of batches' images, epoch after epoch: processes need not wait for an epoch's end."""

    def __init__(self, count, batch, seed):
        self._order = Shuffled(count, seed)
        self._batch = batch

    def __iter__(self):
        first = 0
        while True:
            yield self._order.indices(first, self._batch).tolist()
            first += self._batch


class Seeded(object):
    """What a process does first: transforms draw from Python's and from NumPy's generators."""

    def __init__(self, seed):
        self._seed = seed

    def __call__(self, number):
        random.seed(self._seed + number)
        np.random.seed((self._seed + number) % 2**32)


class Opener(object):
    """A file's image in the mode that a network's channels ask for."""

    def __init__(self, channels):
        self._mode = "L" if channels == 1 else "RGB"

    def __call__(self, path):
        return opened(path, self._mode)


def _folder(files, shape):
    folder = os.path.join(files.root, files.split)
    found = DatasetFolder(folder, loader=Opener(shape[0]), transform=_transform(files.transforms))
    if len(found) != files.count:
        raise ValueError("'%s': expected %d images, received %d" % (folder, files.count, len(found)))
    return found


def _transform(rule):
    steps = []
    if rule["resized"]:
        steps.append(transforms.RandomResizedCrop(rule["crop"], scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0)))
    elif rule["crop"] is not None:
        steps.append(transforms.RandomCrop(rule["crop"], padding=rule["pad"] or None))
    if rule["flip"]:
        steps.append(transforms.RandomHorizontalFlip())
    mean, std = [[255.0 * value for value in rule[name]] for name in ("mean", "std")]
    return transforms.Compose(steps + [transforms.Transpose(), transforms.Normalize(mean, std)])
