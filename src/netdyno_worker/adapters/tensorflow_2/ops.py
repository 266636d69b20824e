"""Which ops TensorFlow 2 has on a device, for the translation that both versions share."""

import tensorflow as tf

from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.tensorflow.translation import Abilities


def abilities(job):
    """On a CPU an image is padded and groups are split beforehand: oneDNN, many times faster, takes neither."""
    kept = tf.as_dtype(kept_type(job))
    whole = job.execution == "compiled" or job.device == "cuda"
    return Abilities(
        pads_convolutions=whole,
        pads_pools=job.execution != "compiled" and job.device == "cuda",
        groups=whole,
        strides=whole,
        batch_norm=_batch_norm,
        kept_type=kept,
        product_type={"bfloat16": tf.bfloat16, "float16": tf.float16}.get(job.precision, kept),
    )


def _batch_norm(x, scale, shift, epsilon):
    """The op itself, because its wrapper raises an epsilon of 1e-5 a little."""
    none = tf.constant([], tf.float32)
    found = tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=shift, mean=none, variance=none, epsilon=epsilon, is_training=True
    )
    return found.y, found.batch_mean, found.batch_variance


FUSED = {"local_response_norm", "global_mean_pool", "rnn", "lstm", "gru"}
