"""Which ops TensorFlow 1.9 has on a CPU, for the translation that both versions share."""

import tensorflow as tf
from tensorflow.python.ops import gen_nn_ops

from netdyno_worker.adapters.tensorflow.translation import Abilities


def abilities(kind):
    """With values and products of one type."""
    return Abilities(
        pads_convolutions=False,
        pads_pools=False,
        groups=False,
        strides=True,
        batch_norm=_batch_norm,
        kept_type=tf.as_dtype(kind),
        product_type=tf.as_dtype(kind),
    )


def _batch_norm(x, scale, shift, epsilon):
    """The op itself, because its wrapper raises an epsilon of 1e-5 a little."""
    none = tf.constant([], tf.float32)
    found = gen_nn_ops.fused_batch_norm_v2(x, scale, shift, none, none, epsilon=epsilon, is_training=True)
    return found.y, found.batch_mean, found.batch_variance


FUSED = {"local_response_norm", "global_mean_pool"}
