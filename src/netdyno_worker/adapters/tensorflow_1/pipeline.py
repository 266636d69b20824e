"""TensorFlow 1's own input pipeline: tf.data over records in the training's graph, assigned to its variables."""

import tensorflow as tf

from netdyno_worker.adapters.kit.pipeline import Seconds
from netdyno_worker.adapters.tensorflow.images import NOTES, SHUFFLED, Reader, damage, shards

AHEAD = 4  # batches


class GraphPipeline(object):
    """Batches from shards of records; no data passes through Python."""

    def __init__(self, files, inputs, session, variables):
        """`variables` are those of the images and the labels that steps train on."""
        self._session = session
        self._paths = shards(files)
        self._seconds = Seconds()
        self.notes = dict(NOTES)
        with session.graph.as_default():
            batches = _batches(self._paths, files, inputs)
            source = tf.data.Iterator.from_structure(batches.output_types, batches.output_shapes)
            following = source.get_next()
            assigned = [variable.assign(value).op for variable, value in zip(variables, following)]
            self._assign = session.make_callable(tf.group(*assigned))
            self._drop = session.make_callable(tf.group(*following))
            self._end = source.make_initializer(batches.take(0))
            self._encoded = tf.placeholder(tf.string, [])
            self._decoded = tf.image.decode_image(self._encoded)
            session.run(source.make_initializer(batches))

    def feed(self):
        self._take(self._assign)

    def skip(self):
        self._take(self._drop)

    def seconds(self):
        """TensorFlow does not report its stages."""
        return self._seconds.so_far()

    def close(self):
        """An empty iterator replaces the one that has threads. Three idle threads belong to the graph's operations
        and end with the session."""
        self._session.run(self._end)

    def _take(self, following):
        try:
            self._seconds.waited(following)
        except (tf.errors.InvalidArgumentError, tf.errors.DataLossError) as error:
            raise ValueError(damage(self._paths, self._decode, error))

    def _decode(self, encoded):
        self._session.run(self._decoded, {self._encoded: encoded})


def _batches(paths, files, inputs):
    """Runs on the session's threads: this version has none for data alone."""
    order = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths), files.seed)
    records = (
        order.interleave(tf.data.TFRecordDataset, cycle_length=files.threads)
        .shuffle(min(files.count, SHUFFLED), files.seed)
        .repeat()
    )
    return Reader(files, inputs).batches(records, inputs.batch, files.threads).prefetch(AHEAD)
