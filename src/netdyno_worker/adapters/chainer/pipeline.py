"""Chainer's own input pipeline: a MultiprocessIterator over a folder of images, opened by Pillow."""

import os

import numpy as np
import PIL
from chainer.dataset import DatasetMixin, concat_examples
from chainer.iterators import MultiprocessIterator, ShuffleOrderSampler

from netdyno_worker.adapters.kit.pillow import STAGES, Augmentation, Folder, mode_of
from netdyno_worker.adapters.kit.pipeline import Seconds

AHEAD = 2  # batches


class FolderPipeline(object):
    """Batches from a folder for each class; processes make them ahead."""

    def __init__(self, files, inputs, feed):
        """`feed` takes {input name: array}."""
        self._names = inputs.images, inputs.labels
        self._feed = feed
        self._seconds = Seconds(STAGES)
        self._batches = MultiprocessIterator(
            Images(files, inputs.shape),
            inputs.batch,
            n_processes=files.threads,
            n_prefetch=AHEAD,
            shared_mem=4 * int(np.prod(inputs.shape)),
            order_sampler=ShuffleOrderSampler(np.random.RandomState(files.seed % 2**32)),
            dataset_timeout=None,
        )
        self.notes = {
            "order": "reshuffled in each epoch",
            "decode": "Pillow " + PIL.__version__,
            "processes": files.threads,
        }

    def feed(self):
        self._feed(dict(zip(self._names, self._take())))

    def skip(self):
        self._take()

    def seconds(self):
        """Of all processes together; `wait_s` is the time that this one waited for batches."""
        return self._seconds.so_far()

    def close(self):
        self._batches.finalize()

    def _take(self):
        """(images, labels)."""
        examples = self._seconds.waited(self._batches.next)
        for image, label, seconds in examples:
            if image is None:
                raise ValueError(label)
            self._seconds.add(STAGES, seconds)
        return concat_examples([example[:2] for example in examples])


class Images(DatasetMixin):
    """(image, label, seconds) by number. Every process has its own generator: forked copies of one would all draw
    the same."""

    def __init__(self, files, shape):
        self._folder = Folder(files)
        self._mode = mode_of(shape)
        self._augmentation = Augmentation(files.transforms, shape)
        self._seed = files.seed % 2**32
        self._random = None
        self._process = None  # the process that made the generator

    def __len__(self):
        return len(self._folder)

    def get_example(self, index):
        """An error is returned as (None, text, ()): the iterator would wait forever for a process that raises."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._random = np.random.RandomState([self._seed, self._process])
        try:
            image, seconds = self._folder.load(index, self._mode, self._augmented)
        except Exception as error:
            return None, str(error), ()
        return image, np.int32(self._folder.label(index)), seconds

    def _augmented(self, image):
        return self._augmentation.apply(image, self._random)
