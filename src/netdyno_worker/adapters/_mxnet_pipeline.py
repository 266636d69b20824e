"""How MXNet feeds itself: ImageRecordIter reads, decodes, augments and batches records in threads of its own."""

import os

import mxnet as mx

from netdyno_worker.adapters._pipeline_seconds import Seconds

NAMES = "rgb"  # of channels; a grey image's only one goes by the first


class RecordPipeline(object):
    """Batches of a RecordIO file, copied into the trainer's own arrays."""

    def __init__(self, files, inputs, arrays):
        """`arrays` are those of images and of labels."""
        self._arrays = arrays
        self._seconds = Seconds()
        self._batches = mx.io.ImageRecordIter(**_options(files, inputs))
        self.notes = {
            "order": "shuffled anew in each epoch",
            "decode": "OpenCV, in MXNet's threads",
            "threads": min(files.threads, max(len(os.sched_getaffinity(0)) // 2 - 1, 1)),  # MXNet takes no more
        }

    def feed(self):
        batch = self._seconds.waited(self._take)
        for source, array in zip(batch.data + batch.label, self._arrays):
            source.copyto(array)

    def skip(self):
        self._seconds.waited(self._take)

    def seconds(self):
        """MXNet tells nothing of its stages."""
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


def _options(files, inputs):
    rule, path = files.transforms, os.path.join(files.root, files.split)
    options = {
        "path_imgrec": path + ".rec",
        "path_imgidx": path + ".idx",
        "data_shape": inputs.shape,
        "batch_size": inputs.batch,
        "shuffle": True,
        "seed": files.seed % 2**31,
        "seed_aug": files.seed % 2**31,
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
    if rule["resized"]:
        return {
            "random_resized_crop": True,
            "min_random_area": 0.08,
            "max_random_area": 1.0,
            "min_aspect_ratio": 3.0 / 4.0,
            "max_aspect_ratio": 4.0 / 3.0,
            "inter_method": 1,  # bilinear
        }
    return {"rand_crop": rule["crop"] is not None, "pad": rule["pad"], "fill_value": 0}
