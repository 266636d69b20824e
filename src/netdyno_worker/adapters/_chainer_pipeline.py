"""How Chainer feeds itself: its MultiprocessIterator over a folder of images, opened by Pillow."""

import os

import numpy as np
from chainer.dataset import DatasetMixin, concat_examples
from chainer.iterators import MultiprocessIterator, ShuffleOrderSampler

from netdyno_worker.adapters._pillow_images import Augmented

SUFFIXES = (".jpg", ".jpeg", ".png")
AHEAD = 4  # batches


class FolderPipeline(object):
    """Batches from a folder for each class; processes make them ahead."""

    def __init__(self, files, inputs, feed):
        """`feed` takes {input name: array}."""
        self._inputs = inputs
        self._feed = feed
        self._batches = MultiprocessIterator(
            Images(files, inputs.shape),
            inputs.batch,
            n_processes=files.threads,
            n_prefetch=AHEAD,
            shared_mem=4 * int(np.prod(inputs.shape)),
            order_sampler=ShuffleOrderSampler(np.random.RandomState(files.seed % 2**32)),
            dataset_timeout=None,
        )
        self.notes = {"order": "shuffled anew in each epoch", "decode": "Pillow, in processes", "copies": "waited for"}

    def feed(self):
        images, labels = self._take()
        self._feed({self._inputs.images: images, self._inputs.labels: labels})

    def skip(self):
        self._take()

    def seconds(self):
        """Chainer tells nothing of its stages."""
        return {}

    def close(self):
        self._batches.finalize()

    def _take(self):
        examples = self._batches.next()
        for image, label in examples:
            if image is None:
                raise ValueError(label)
        return concat_examples(examples)


class Images(DatasetMixin):
    """(image, label) by number. A process that draws has its own generator: forked ones would all draw the same."""

    def __init__(self, files, shape):
        self._images = list(_labelled(os.path.join(files.root, files.split)))
        self._augmented = Augmented(files.transforms, shape)
        self._seed = files.seed % 2**32
        self._random = (None, None)  # a process, and its generator
        if len(self._images) != files.count:
            raise ValueError("'%s': expected %d images, received %d" % (files.root, files.count, len(self._images)))

    def __len__(self):
        return len(self._images)

    def get_example(self, index):
        """What is wrong with a file comes as (None, text): from an exception in a process the iterator hangs."""
        path, label = self._images[index]
        if self._random[0] != os.getpid():
            self._random = (os.getpid(), np.random.RandomState([self._seed, os.getpid()]))
        try:
            return self._augmented.array(path, self._random[1]), np.int32(label)
        except Exception as error:
            return None, str(error)


def _labelled(folder):
    """(path, label) of all images: classes are folders, numbered by name."""
    for label, name in enumerate(sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())):
        for image in sorted(os.listdir(os.path.join(folder, name))):
            if image.lower().endswith(SUFFIXES):
                yield os.path.join(folder, name, image), label
