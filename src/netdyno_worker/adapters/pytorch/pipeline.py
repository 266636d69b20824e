"""PyTorch's own input pipeline: a DataLoader over a folder of images, whose processes open and transform them."""

import numpy as np
import PIL
import torch
from torch.utils.data import DataLoader

from netdyno_worker.adapters.kit.pillow import STAGES
from netdyno_worker.adapters.kit.pipeline import Endless, Seconds, scaling
from netdyno_worker.adapters.pytorch.images import Images, collated


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
            "order": "reshuffled in each epoch",
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
        """Do what its destructor does: a traceback may keep the iterator, and with it the processes, alive."""
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


class Scale(object):
    """Turns bytes into a network's input. Where a pixel's colours are adjacent, factors are repeated for a whole
    row of pixels, so that the multiplication is vectorised."""

    def __init__(self, rule, images):
        width = images.shape[3]
        channels = images.shape[1]
        self._by_row = images.permute(0, 2, 3, 1).is_contiguous()
        shape = (1, width * channels) if self._by_row else (1, channels, 1, 1)
        repeated = [np.tile(values, width) if self._by_row else values for values in scaling(rule)]
        self._factors, self._offsets = [
            torch.from_numpy(values).reshape(shape).to(images.device) for values in repeated
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
    """Puts a batch into the tensors of a CPU. With one thread: the other cores are busy with the next batches, and
    waiting for them takes longer than scaling."""

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
        self._used.record()  # earlier work on this memory may not be finished

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
