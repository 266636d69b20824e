"""How Paddle feeds itself: a DataLoader over a folder of images, whose processes open and transform them ahead."""

import random

import numpy as np
import PIL
from paddle.io import BatchSampler, DataLoader, Dataset
from paddle.vision import transforms

from netdyno_worker.adapters._pillow_images import STAGES, Folder, expect_shape, mode_of
from netdyno_worker.adapters._pipeline_seconds import Seconds
from netdyno_worker.feed.loader import Shuffled


class FolderPipeline(object):
    """Batches from a folder for each class, as tensors where the trainer computes."""

    def __init__(self, files, inputs, place):
        """`place` takes {input name: tensor}."""
        self._names = inputs.images, inputs.labels
        self._place = place
        self._seconds = Seconds(STAGES)
        loader = DataLoader(
            Images(files, inputs.shape),
            batch_sampler=Endless(files.count, inputs.batch, files.seed),
            num_workers=files.threads,
            worker_init_fn=Seeded(files.seed),
            collate_fn=collated,
        )
        self._batches = iter(loader)
        self.notes = {
            "order": "shuffled anew in each epoch",
            "decode": "Pillow " + PIL.__version__,
            "processes": files.threads,
        }

    def feed(self):
        self._place(dict(zip(self._names, self._take())))

    def skip(self):
        self._take()

    def seconds(self):
        """Of all processes together, and `wait_s` of who took."""
        return self._seconds.so_far()

    def close(self):
        """Only dropped it would go on for ever: its own thread holds it."""
        batches, self._batches = self._batches, None
        if batches is not None:
            batches._try_shutdown_all()

    def _take(self):
        """(images, labels)."""
        images, labels, seconds = self._seconds.waited(next, self._batches)
        if isinstance(seconds, str):
            raise ValueError(seconds)
        self._seconds.add(STAGES, seconds)
        return images, labels


class Images(Dataset):
    """(image, label, seconds) by number; of a file with something wrong (None, None, text)."""

    def __init__(self, files, shape):
        self._folder = Folder(files)
        self._shape = shape
        self._transform = _transform(files.transforms)

    def __len__(self):
        return len(self._folder)

    def __getitem__(self, index):
        try:
            image, seconds = self._folder.load(index, mode_of(self._shape), self._transformed)
        except ValueError as error:
            return None, None, str(error)
        return image, self._folder.label(index), seconds

    def _transformed(self, image):
        found = self._transform(image)
        expect_shape(found, self._shape)
        return found


def collated(items):
    """(images, labels, seconds) of a batch; the first text that is among them takes the place of the seconds."""
    for _, _, seconds in items:
        if isinstance(seconds, str):
            return np.zeros(1), np.zeros(1), seconds
    images, labels, seconds = zip(*items)
    return np.stack(images), np.array(labels, np.int64), np.sum(seconds, axis=0).tolist()


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
    """What a process does first: transforms draw from Python's generator and from NumPy's."""

    def __init__(self, seed):
        self._seed = seed

    def __call__(self, number):
        random.seed(self._seed + number)
        np.random.seed((self._seed + number) % 2**32)


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
