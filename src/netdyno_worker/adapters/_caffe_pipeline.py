"""How Caffe feeds itself: a Data layer, whose thread reads an LMDB, decodes and transforms ahead."""

import json
import os

import caffe
import numpy as np

from netdyno_worker.adapters._caffe_net import Word, from_text, to_text
from netdyno_worker.adapters._pipeline_seconds import Seconds
from netdyno_worker.contract import Unsupported

AHEAD = 4  # batches


class DatumPipeline(object):
    """A net of one Data layer. It has a mean for each channel but one scale for all, and what it decodes is blue
    first: so it is scaled further, and turned round, on the way to the trainer's nets."""

    def __init__(self, files, inputs, feed):
        """`feed` takes {input name: array}, and copies."""
        source = os.path.join(files.root, files.split + "_lmdb")
        encoded = _is_encoded(source)
        _refuse(encoded)
        self._inputs = inputs
        self._feed = feed
        self._seconds = Seconds()
        self._factors = [np.float32(1.0 / std) for std in files.transforms["std"]]
        self._planes = _planes(inputs, encoded)
        self._images = np.empty((inputs.batch,) + inputs.shape, np.float32)
        text = to_text([("layer", _layer(source, encoded, inputs, files.transforms))])
        self._net = from_text(lambda path: caffe.Net(path, caffe.TRAIN), text)
        self._check(source)
        self.notes = _notes(files.transforms, encoded)

    def feed(self):
        self.skip()
        images, labels = self._net.blobs["images"].data, self._net.blobs["labels"].data
        for channel, (plane, factor) in enumerate(zip(self._planes, self._factors)):
            np.multiply(images[:, plane], factor, out=self._images[:, channel])
        self._feed({self._inputs.images: self._images, self._inputs.labels: labels})

    def skip(self):
        self._seconds.waited(self._net.forward)

    def seconds(self):
        """Caffe tells nothing of its stages."""
        return self._seconds.so_far()

    def close(self):
        """Its thread ends with the net."""
        self._net = None

    def _check(self, source):
        shape = tuple(self._net.blobs["images"].data.shape)
        if shape != self._images.shape:
            raise ValueError("'%s': expected images of %s, received %s" % (source, self._images.shape, shape))


def _layer(source, encoded, inputs, rule):
    colours = [("force_gray" if inputs.shape[0] == 1 else "force_color", True)] if encoded else []
    crop = [] if rule["crop"] is None else [("crop_size", rule["crop"])]
    means = [("mean_value", 255.0 * rule["mean"][plane]) for plane in _planes(inputs, encoded)]
    return [
        ("name", "data"),
        ("type", "Data"),
        ("top", "images"),
        ("top", "labels"),
        ("transform_param", [("scale", 1.0 / 255.0), ("mirror", rule["flip"])] + crop + means + colours),
        (
            "data_param",
            [("source", source), ("backend", Word("LMDB")), ("batch_size", inputs.batch), ("prefetch", AHEAD)],
        ),
    ]


def _planes(inputs, encoded):
    """For each channel the place where Caffe has it; the other way round it is the same."""
    places = list(range(inputs.shape[0]))
    return places[::-1] if encoded else places


def _is_encoded(source):
    """Beside a database of plain pixels it is told which shape they have."""
    try:
        with open(os.path.join(source, "about.json")) as file:
            return json.load(file).get("shape") is None
    except FileNotFoundError:
        return True


def _refuse(encoded):
    """What a build lacks would end the process."""
    with open("/proc/self/maps") as file:
        loaded = file.read()
    if "liblmdb" not in loaded:
        raise Unsupported("this Caffe was built without LMDB; use packed data")
    if encoded and "libopencv" not in loaded:
        raise Unsupported("this Caffe was built without OpenCV, so it decodes no images; use packed data")


def _notes(rule, encoded):
    notes = {"order": "as it lies in the database", "decode": "OpenCV" if encoded else "nothing to decode"}
    notes["threads"] = "one, whatever was asked for"
    if rule["resized"]:
        notes["crop"] = "of the image's own pixels: Caffe's data layer does not scale"
    if rule["pad"]:
        notes["pad"] = "none: Caffe's data layer does not pad"
    return notes
