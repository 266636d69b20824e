"""TensorFlow 2's own input pipeline: tf.data over records, decoded and transformed by its ops on its threads."""

import tensorflow as tf

from netdyno_worker.adapters.kit.pipeline import Seconds
from netdyno_worker.adapters.tensorflow.images import NOTES, SHUFFLED, Reader, damage, shards

AHEAD, PLACED_AHEAD = 4, 2  # batches: made, and copied to a GPU


class RecordPipeline(object):
    """Batches from shards of records, as tensors where the trainer computes."""

    def __init__(self, files, inputs, device, place):
        """`device` is TensorFlow's name of it; `place` takes {input name: tensor}."""
        self._names = inputs.images, inputs.labels
        self._place = place
        self._paths = shards(files)
        self._batches = iter(_on_device(_batches(self._paths, files, inputs), device))
        self._seconds = Seconds()
        self.notes = dict(NOTES)

    def feed(self):
        self._place(dict(zip(self._names, self._take())))

    def skip(self):
        self._take()

    def seconds(self):
        """TensorFlow does not report its stages."""
        return self._seconds.so_far()

    def close(self):
        """Threads end with the iterator."""
        self._batches = None

    def _take(self):
        try:
            return self._seconds.waited(next, self._batches)
        except (tf.errors.InvalidArgumentError, tf.errors.DataLossError) as error:
            raise ValueError(damage(self._paths, tf.io.decode_image, error))


def _batches(paths, files, inputs):
    """With private threads, as many as may load; images are spread over them, the ops of one image are not."""
    options = tf.data.Options()
    options.autotune.enabled = False  # there is nothing to tune, and its thread takes seconds to end
    options.threading.private_threadpool_size = files.threads
    options.threading.max_intra_op_parallelism = 1
    order = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths), files.seed)
    records = (
        order.interleave(tf.data.TFRecordDataset, cycle_length=files.threads, num_parallel_calls=files.threads)
        .shuffle(min(files.count, SHUFFLED), files.seed)
        .repeat()
    )
    batches = Reader(files, inputs).batches(records, inputs.batch, files.threads)
    return batches.prefetch(AHEAD).with_options(options)


def _on_device(batches, device):
    """A GPU's batches are copied there while earlier ones are trained on."""
    if "GPU" not in device:
        return batches
    return batches.apply(tf.data.experimental.prefetch_to_device(device, PLACED_AHEAD))
