"""How PyTorch feeds itself: a DataLoader over a folder of images, whose processes open and transform them ahead."""

import numpy as np
import PIL
import torch
from torch.utils.data import DataLoader

from netdyno_worker.adapters._pillow_images import STAGES
from netdyno_worker.adapters._pipeline_seconds import Seconds
from netdyno_worker.adapters._pytorch_images import Images, collated
from netdyno_worker.feed.loader import Shuffled


class FolderPipeline(object):
    """Batches from a folder for each class, copied into the tensors that steps train on."""

    def __init__(self, files, inputs, held):
        """`held` has these tensors by name."""
        images, labels = held[inputs.images], held[inputs.labels]
        scale = Scale(files.transforms, images)
        self._put = (Ahead if images.is_cuda else Now)(scale, images, labels)
        self._batches = iter(_loader(files, inputs, images.is_cuda))
        self._seconds = Seconds(STAGES)
        self.notes = {
            "order": "shuffled anew in each epoch",
            "decode": "Pillow " + PIL.__version__,
            "processes": files.threads,
            "scaling": "on the device, from bytes",
        }

    def feed(self):
        self._put(*self._take())

    def skip(self):
        self._take()

    def seconds(self):
        return self._seconds.so_far()

    def close(self):
        """As its destructor would: a traceback may hold the iterator, and with it the processes."""
        batches, self._batches = self._batches, None
        if batches is not None:
            batches._shutdown_workers()

    def _take(self):
        batch = self._seconds.waited(next, self._batches)
        if isinstance(batch, str):
            raise ValueError(batch)
        pixels, labels, seconds = batch
        self._seconds.add(STAGES, seconds)
        return pixels, labels


class Endless(object):
    """The numbers of batches' images, epoch after epoch: processes need not wait for an epoch's end."""

    def __init__(self, count, batch, seed):
        self._order = Shuffled(count, seed)
        self._batch = batch

    def __iter__(self):
        first = 0
        while True:
            yield self._order.indices(first, self._batch).tolist()
            first += self._batch


class Scale(object):
    """Turns bytes into a network's input. Where colours lie side by side, factors are repeated for a whole row of
    pixels, so that its values are multiplied many at a time."""

    def __init__(self, rule, images):
        width = images.shape[3]
        std = np.array(rule["std"])
        pair = 1.0 / (255.0 * std), -np.array(rule["mean"]) / std
        self._by_row = images.permute(0, 2, 3, 1).is_contiguous()
        shape = (1, width * len(std)) if self._by_row else (1, len(std), 1, 1)
        repeated = [np.tile(values, width) if self._by_row else values for values in pair]
        self._factors, self._offsets = [
            torch.from_numpy(values.astype(np.float32)).reshape(shape).to(images.device) for values in repeated
        ]

    def __call__(self, pixels, images):
        """`pixels` as the files have them, into `images` as steps want them."""
        if self._by_row:
            width = self._factors.shape[1]
            pixels, images = pixels.view(-1, width), images.permute(0, 2, 3, 1).view(-1, width)
        else:
            pixels = pixels.permute(0, 3, 1, 2)
        images.copy_(pixels)
        images.mul_(self._factors).add_(self._offsets)


class Now(object):
    """Puts a batch where steps run, if that is where it was made. By one thread: the others' cores are busy with the
    next batches, and to wait for them takes longer than to scale."""

    def __init__(self, scale, images, labels):
        self._scale, self._images, self._labels = scale, images, labels

    def __call__(self, pixels, labels):
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        self._scale(pixels, self._images)
        self._labels.copy_(labels)
        torch.set_num_threads(threads)


class Ahead(object):
    """Puts batches on a GPU through two places in turn."""

    def __init__(self, scale, images, labels):
        self._places = [_Place(scale, images, labels) for _ in range(2)]
        self._number = 0

    def __call__(self, pixels, labels):
        self._places[self._number % 2].put(pixels, labels)
        self._number += 1


class _Place(object):
    """Bytes on the device: a stream of its own copies them there from page-locked memory while steps compute. Only
    scaling, on the device, waits for the steps before it."""

    def __init__(self, scale, images, labels):
        batch, channels, height, width = images.shape
        self._scale, self._held = scale, (images, labels)
        self._stream = torch.cuda.Stream()
        self._pixels = torch.empty((batch, height, width, channels), dtype=torch.uint8, device=images.device)
        self._labels = torch.empty_like(labels)
        self._arrived = torch.cuda.Event()
        self._used = torch.cuda.Event()
        self._used.record()  # what had this memory before may not have been computed yet

    def put(self, pixels, labels):
        self._arrived.synchronize()  # two batches ago: so the host is never far ahead of the device
        self._stream.wait_event(self._used)
        with torch.cuda.stream(self._stream):
            self._pixels.copy_(pixels, non_blocking=True)
            self._labels.copy_(labels, non_blocking=True)
            self._arrived.record()
        torch.cuda.current_stream().wait_event(self._arrived)
        self._scale(self._pixels, self._held[0])
        self._held[1].copy_(self._labels)
        self._used.record()


def _loader(files, inputs, cuda):
    """Forked: processes that never touch the device, whatever this one does with it."""
    options = {}
    if hasattr(torch, "compile"):  # version 1.0 can only fork, and draws its seed from the one generator there is
        options = {"multiprocessing_context": "fork", "generator": torch.Generator().manual_seed(files.seed)}
    return DataLoader(
        Images(files, inputs),
        batch_sampler=Endless(files.count, inputs.batch, files.seed),
        num_workers=files.threads,
        collate_fn=collated,
        pin_memory=cuda,
        **options,
    )
