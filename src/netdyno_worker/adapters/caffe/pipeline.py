"""Caffe's own input pipeline: a Data layer, whose thread reads an LMDB, decodes and transforms ahead."""

import json
import os

import caffe
import numpy as np

from netdyno_worker.adapters.caffe.net import Word, from_text, to_text
from netdyno_worker.adapters.kit.pipeline import Seconds
from netdyno_worker.contract import Unsupported

AHEAD = 4  # batches


class DatumPipeline(object):
    """A net of one Data layer. It has a mean for each channel but one scale for all, and its images are blue first:
    so they are scaled and their channels reversed on the way to the trainer's nets."""

    def __init__(self, files, inputs, feed):
        """`feed` takes {input name: array}, and copies."""
        source = os.path.join(files.root, files.split + "_lmdb")
        about = _find_about(source)
        encoded = about["shape"] is None if about else None  # None: unknown
        _refuse(encoded)
        self._inputs = inputs
        self._feed = feed
        self._seconds = Seconds()
        self._factors = [np.float32(1.0 / std) for std in files.transforms["std"]]
        self._planes = _planes(inputs, about)
        self._images = np.empty((inputs.batch,) + inputs.shape, np.float32)
        colours = [("force_gray" if inputs.shape[0] == 1 else "force_color", True)] if encoded else []
        means = [("mean_value", 255.0 * files.transforms["mean"][plane]) for plane in self._planes]
        text = to_text([("layer", _layer(source, inputs, _transform(files.transforms) + means + colours))])
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
        """Caffe does not report its stages."""
        return self._seconds.so_far()

    def close(self):
        """Its thread ends with the net."""
        self._net = None

    def _check(self, source):
        shape = tuple(self._net.blobs["images"].data.shape)
        if shape != self._images.shape:
            raise ValueError("'%s': expected images of %s, received %s" % (source, self._images.shape, shape))


def _layer(source, inputs, transform):
    return [
        ("name", "data"),
        ("type", "Data"),
        ("top", "images"),
        ("top", "labels"),
        ("transform_param", transform),
        (
            "data_param",
            [("source", source), ("backend", Word("LMDB")), ("batch_size", inputs.batch), ("prefetch", AHEAD)],
        ),
    ]


def _transform(rule):
    crop = [] if rule["crop"] is None else [("crop_size", rule["crop"])]
    return [("scale", 1.0 / 255.0), ("mirror", rule["flip"])] + crop


def _planes(inputs, about):
    """For each channel its index in Caffe's images, and the reverse. Plain pixels may be red first: older databases
    do not say so."""
    places = list(range(inputs.shape[0]))
    red_first = about and about["shape"] is not None and about.get("channels", "rgb") == "rgb"
    return places if red_first else places[::-1]


def _find_about(source):
    """The description beside a database: the shape of its pixels, None if its images are encoded, and the order of
    their colours. None if there is no description."""
    try:
        with open(os.path.join(source, "about.json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _refuse(encoded):
    """Check first: a build without these libraries would end the process."""
    loaded = _loaded()
    if "liblmdb" not in loaded:
        raise Unsupported("this Caffe was built without LMDB; use packed data")
    if encoded and "libopencv" not in loaded:
        raise Unsupported("this Caffe was built without OpenCV, so it decodes no images; use packed data")


def _loaded():
    """The paths of the process's libraries, among other things."""
    with open("/proc/self/maps") as file:
        return file.read()


def _notes(rule, encoded):
    decode = {True: "OpenCV", False: "nothing to decode", None: "OpenCV, if there is something to decode"}[encoded]
    notes = {"order": "as it lies in the database", "decode": decode}
    notes["threads"] = "one, whatever was requested"
    if rule["resized"]:
        notes["crop"] = "of the image's own pixels: Caffe's data layer does not scale"
    if rule["pad"]:
        notes["pad"] = "none: Caffe's data layer does not pad"
    return notes
