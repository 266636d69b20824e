"""CNTK's own input pipeline: a MinibatchSource whose ImageDeserializer reads a map file, decodes and crops ahead."""

import ctypes
import os

import cntk
import numpy as np
from cntk.io import ImageDeserializer, MinibatchSource, StreamDef, StreamDefs, transforms

from netdyno_worker.adapters.kit.pipeline import Seconds, scaling
from netdyno_worker.contract import Unsupported

LIBRARIES = ("libjpeg.so.8", "libpng12.so.0", "libtiff.so.5", "libjasper.so.1")  # of the OpenCV that it brings


class MapPipeline(object):
    """CNTK's images are blue first, and it subtracts no mean except one from a file: so channels are reversed and
    scaled on the way to the trainer."""

    def __init__(self, files, inputs, feed):
        """`feed` takes {input name: array}."""
        _refuse_without_libraries()
        self._inputs = inputs
        self._feed = feed
        self._seconds = Seconds()
        rule = files.transforms
        self._factors, self._offsets = scaling(rule)
        self._images = np.empty((inputs.batch,) + inputs.shape, np.float32)
        self._path = os.path.join(files.root, files.split + "_map.txt")
        self._source = _source(self._path, files, inputs)
        self._rows = cntk.input_variable(inputs.classes, is_sparse=True)
        self._labels = cntk.times(self._rows, np.arange(inputs.classes, dtype=np.float32).reshape(-1, 1))
        self.notes = _notes(rule)

    def feed(self):
        batch = self._take()
        found = batch[self._source.streams.images].asarray().reshape(self._images.shape)[:, ::-1]
        for channel, (factor, offset) in enumerate(zip(self._factors, self._offsets)):
            np.multiply(found[:, channel], factor, out=self._images[:, channel])
            self._images[:, channel] += offset
        labels = self._labels.eval({self._rows: batch[self._source.streams.labels]}).reshape(-1).astype(np.int32)
        self._feed({self._inputs.images: self._images, self._inputs.labels: labels})

    def skip(self):
        self._take()

    def seconds(self):
        """CNTK does not report its stages."""
        return self._seconds.so_far()

    def close(self):
        """Its threads end with the source."""
        self._source = None

    def _take(self):
        try:
            return self._seconds.waited(self._source.next_minibatch, self._inputs.batch)
        except RuntimeError as error:  # a line, then CNTK's own call stack
            reason = str(error).strip().splitlines()[0]
            raise ValueError("'%s': expected images that OpenCV decodes, received: %s" % (self._path, reason))


def _source(path, files, inputs):
    images = StreamDef(field="image", transforms=_transforms(files.transforms, inputs.shape))
    streams = StreamDefs(images=images, labels=StreamDef(field="label", shape=inputs.classes))
    reader = ImageDeserializer(path, streams)
    reader["grayscale"] = inputs.shape[0] == 1
    return MinibatchSource(reader, randomization_seed=files.seed % 2**31)


def _transforms(rule, shape):
    channels, height, width = shape
    scale = transforms.scale(width=width, height=height, channels=channels, interpolations="linear")
    if rule["crop"] is None:
        return [scale]
    if not rule["resized"]:
        return [transforms.crop(crop_type="randomside", crop_size=rule["crop"]), scale]
    area = {"area_ratio": (0.08, 1.0), "aspect_ratio": (3.0 / 4.0, 1.0), "jitter_type": "uniratio"}
    return [transforms.crop(crop_type="randomarea", **area), scale]


def _notes(rule):
    notes = {"order": "shuffled by chunks", "decode": "OpenCV, in CNTK's threads"}
    if rule["crop"] is not None and not rule["flip"]:
        notes["flip"] = "as often as not: it comes with CNTK's random crops"
    if rule["crop"] is None and rule["flip"]:
        notes["flip"] = "none: it comes with CNTK's random crops only"
    if rule["pad"]:
        notes["pad"] = "none: CNTK does not pad"
    return notes


def _refuse_without_libraries():
    """Without this check they would be missed only when the first image is read; current systems lack them."""
    missing = [name for name in LIBRARIES if not _loads(name)]
    if missing:
        raise Unsupported(
            "CNTK decodes images with %s, which are missing here; Ubuntu 16.04 has them, and a folder with them in "
            "LD_LIBRARY_PATH is enough; or use packed data" % ", ".join(missing)
        )


def _loads(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
