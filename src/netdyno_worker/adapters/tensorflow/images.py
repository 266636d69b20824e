"""How a record becomes a network's input by TensorFlow's own ops: parsed, decoded, cropped, flipped and scaled.

The same ops in versions 1 and 2; what strings them together differs, and is not here.
"""

import glob
import os
import re
import time

import numpy as np
import tensorflow

from netdyno_worker.adapters.kit.pipeline import scaling

tf = getattr(tensorflow.compat, "v1", tensorflow)  # the interface that versions 1 and 2 share

IS_FIRST = tf is tensorflow  # version 1
# What makes resizing look at the middle of pixels; version 1 looks at their corners.
HALF_PIXELS = {} if IS_FIRST else {"half_pixel_centers": True}
ENCODED, LABEL = "image/encoded", "image/class/label"
WHOLE = np.array([[[0, 0, 1, 1]]], np.float32)  # a box around everything
EXACT = "INTEGER_ACCURATE"  # as other decoders do it: TensorFlow's default is up to 4 levels off, and hardly faster
SHUFFLED = 4096  # records that are shuffled among each other
SEARCH_S = 60.0  # for a damaged record

FEATURES = {ENCODED: tf.FixedLenFeature([], tf.string), LABEL: tf.FixedLenFeature([], tf.int64)}

NOTES = {
    "order": "files shuffled, then records within %d" % SHUFFLED,
    "decode": "libjpeg-turbo and libpng by TensorFlow",
    "resize": "bilinear without antialiasing" + (", half a pixel off as was usual" if IS_FIRST else ""),
}


def shards(files):
    """The paths of a split's files."""
    found = sorted(glob.glob(os.path.join(glob.escape(files.root), files.split + "-?????-of-?????")))
    if not found:
        raise ValueError("'%s': expected files %s-00000-of-00001 or more, received none" % (files.root, files.split))
    return found


class Reader(object):
    """What Dataset.map makes of records, by the rule of the files."""

    def __init__(self, files, inputs):
        self._rule = files.transforms
        self._seed = files.seed
        self._classes = files.classes
        channels, height, width = inputs.shape
        self._shape = height, width, channels
        self._factors, self._offsets = _rows(files.transforms, width)

    def batches(self, records, size, threads):
        """A dataset of (images, height × width × channels as float32, labels) from one of records. Calling a
        function for each record takes longer than decoding a small image, so it is called for a batch of them; images
        to be resized are large, and one thread must not do a whole batch."""
        if self._rule["resized"]:
            parallel = {} if IS_FIRST else {"num_parallel_calls": threads}
            return records.map(_unconverted(self._example), num_parallel_calls=threads).batch(size, **parallel)
        return records.batch(size).map(_unconverted(self._examples), num_parallel_calls=threads)

    def _example(self, record):
        return self._scaled(tf.parse_single_example(record, FEATURES), self._transformed)

    def _examples(self, records):
        return self._scaled(tf.parse_example(records, FEATURES), self._each_transformed)

    def _scaled(self, found, transform):
        """Gathering fails for a label beyond the last, and is much faster than an assertion."""
        label = tf.gather(np.arange(self._classes), found[LABEL])
        return tf.cast(transform(found[ENCODED]), tf.float32) * self._factors + self._offsets, label

    def _each_transformed(self, encoded):
        return tf.map_fn(self._transformed, encoded, dtype=tf.uint8, parallel_iterations=1, back_prop=False)

    def _transformed(self, encoded):
        image = self._cropped(encoded)
        return tf.image.random_flip_left_right(image, seed=self._seed) if self._rule["flip"] else image

    def _cropped(self, encoded):
        if self._rule["resized"]:
            return self._resized(encoded)
        image, pad = self._decoded(encoded), self._rule["pad"]
        if self._rule["crop"] is not None:
            padded = tf.pad(image, [[pad, pad], [pad, pad], [0, 0]]) if pad else image
            return tf.random_crop(padded, self._shape, seed=self._seed)
        return _of_shape(image, self._shape)

    def _resized(self, encoded):
        """Of a JPEG only the window is decoded."""
        window = tf.cond(
            tf.image.is_jpeg(encoded), lambda: self._part_of_jpeg(encoded), lambda: self._part_of_png(encoded)
        )
        resized = tf.image.resize_bilinear(window[None], self._shape[:2], **HALF_PIXELS)[0]
        resized.set_shape(self._shape)
        return resized

    def _part_of_jpeg(self, encoded):
        begin, size = self._window(tf.image.extract_jpeg_shape(encoded))
        window = tf.concat([begin[:2], size[:2]], 0)
        return tf.image.decode_and_crop_jpeg(encoded, window, channels=self._shape[2], dct_method=EXACT)

    def _part_of_png(self, encoded):
        image = self._decoded(encoded)
        begin, size = self._window(tf.shape(image))
        return tf.slice(image, begin, size)

    def _decoded(self, encoded):
        """The op decodes PNG too."""
        return tf.image.decode_jpeg(encoded, channels=self._shape[2], dct_method=EXACT)

    def _window(self, shape):
        """Where a window of 8 to 100 % of the area begins, and its size."""
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            shape,
            WHOLE,
            seed=self._seed,
            min_object_covered=0.0,
            aspect_ratio_range=[3.0 / 4.0, 4.0 / 3.0],
            area_range=[0.08, 1.0],
            max_attempts=10,
        )
        return begin, size


def _unconverted(function):
    """Version 2 would convert it with AutoGraph."""
    return function if IS_FIRST else tensorflow.autograph.experimental.do_not_convert(function)


def _of_shape(image, shape):
    """The image, which must have that shape; checked by tf.ensure_shape where it exists, which is faster."""
    if hasattr(tf, "ensure_shape"):
        return tf.ensure_shape(image, shape)
    with tf.control_dependencies([tf.assert_equal(tf.shape(image), shape)]):
        image = tf.identity(image)
    image.set_shape(shape)
    return image


def damage(paths, decode, error):
    """One line about the first record that cannot be read, or else what TensorFlow says. `decode` is a function of an
    encoded image."""
    end = time.time() + SEARCH_S
    for path in paths:
        place = "'%s'" % path
        try:
            for number, record in enumerate(tf.python_io.tf_record_iterator(path)):
                place = "'%s', record %d" % (path, number)
                decode(_encoded(record))
                if time.time() > end:
                    return _message(error)
        except Exception as found:  # decoders raise anything on damaged files
            return "%s: expected a JPEG or PNG, received: %s" % (place, _message(found))
    return _message(error)


def _message(error):
    """An error's first line, without the names of nodes."""
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    return re.sub(r"\{\{.*?\}\}\s*", "", text.splitlines()[0]).strip()


def _encoded(record):
    values = tf.train.Example.FromString(record).features.feature[ENCODED].bytes_list.value
    if len(values) != 1:
        raise ValueError("%d of %s" % (len(values), ENCODED))
    return values[0]


def _rows(rule, width):
    """(factors, offsets) of a row of pixels: repeated, so that the multiplication is vectorised."""
    return [np.tile(values, (1, width, 1)) for values in scaling(rule)]
