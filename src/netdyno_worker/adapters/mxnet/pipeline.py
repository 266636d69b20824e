"""MXNet's own input pipeline: ImageRecordIter reads, decodes, augments and batches records in its threads."""

import ctypes
import os

import mxnet as mx

from netdyno_worker.adapters.kit.pipeline import Seconds
from netdyno_worker.contract import Unsupported

AROUND = 256.0 / 224.0  # the usual side of an image before cropping over that of the crop
NAMES = "rgb"  # of channels; that of a grey image has the first name


class RecordPipeline(object):
    """Batches of a RecordIO file, copied into the trainer's own arrays."""

    def __init__(self, files, inputs, arrays):
        """`arrays` are those of images and of labels."""
        if not hasattr(mx.io, "ImageRecordIter"):
            raise Unsupported("this MXNet was built without OpenCV, so it decodes no images; use packed data")
        self._arrays = arrays
        self._path = os.path.join(files.root, files.split + ".rec")
        self._seconds = Seconds()
        self._batches = _opened(_options(files, inputs), files.threads)
        self.notes = _notes(files)

    def feed(self):
        batch = self._seconds.waited(self._take)
        for source, array in zip(batch.data + batch.label, self._arrays):
            source.copyto(array)

    def skip(self):
        self._seconds.waited(self._take)

    def seconds(self):
        """MXNet does not report its stages."""
        return self._seconds.so_far()

    def close(self):
        """Its threads end with the iterator."""
        self._batches = None

    def _take(self):
        """The last batch of an epoch begins the next one, so all are full."""
        try:
            return self._batches.next()
        except StopIteration:
            self._batches.reset()
            return self._batches.next()
        except mx.base.MXNetError as error:
            reason = str(error).strip().splitlines()[-1]
            raise ValueError("'%s': expected images that OpenCV decodes, received: %s" % (self._path, reason))


def _opened(options, threads):
    """With one OpenMP thread. With more, OpenMP would keep some for this thread alone, more than there are cores; the
    threads of steps would then sleep between operators, and a small network take twice as long."""
    set_threads = mx.base._LIB.MXSetNumOMPThreads
    set_threads(ctypes.c_int(1))
    try:
        return mx.io.ImageRecordIter(**options)
    finally:
        set_threads(ctypes.c_int(threads))


def _options(files, inputs):
    rule, path = files.transforms, os.path.join(files.root, files.split)
    options = {
        "path_imgrec": path + ".rec",
        "path_imgidx": path + ".idx",
        "data_shape": inputs.shape,
        "batch_size": inputs.batch,
        "shuffle": True,
        "seed": files.seed % 2**31,
        "preprocess_threads": files.threads,
        "prefetch_buffer": 4,
        "round_batch": True,
        "rand_mirror": rule["flip"],
        "verbose": False,
    }
    for name, mean, std in zip(NAMES, rule["mean"], rule["std"]):
        options["mean_" + name], options["std_" + name] = 255.0 * mean, 255.0 * std
    options.update(_crop(rule))
    return options


def _crop(rule):
    if not rule["resized"]:
        return {"rand_crop": rule["crop"] is not None, "pad": rule["pad"], "fill_value": 0}
    if not _resizes():
        return {"resize": int(round(AROUND * rule["crop"])), "rand_crop": True}
    return {
        "random_resized_crop": True,
        "min_random_area": 0.08,
        "max_random_area": 1.0,
        "min_aspect_ratio": 3.0 / 4.0,
        "max_aspect_ratio": 4.0 / 3.0,
        "inter_method": 1,  # bilinear
    }


def _resizes():
    """Releases ignore options that they do not know."""
    return "random_resized_crop" in mx.io.ImageRecordIter.__doc__


def _notes(files):
    notes = {
        "order": "reshuffled in each epoch",
        "decode": "OpenCV, by MXNet",
        "threads": min(files.threads, max(len(os.sched_getaffinity(0)) // 2 - 1, 1)),  # MXNet takes no more
    }
    if files.transforms["resized"] and not _resizes():
        side = int(round(AROUND * files.transforms["crop"]))
        notes["crop"] = "of the image scaled to %d on its shorter side: this release has no other" % side
    return notes
