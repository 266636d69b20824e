"""Ops of which TensorFlow has no float64 kernel, composed from those that have one.

Only float64 proofs use them: they are other code than the measured kernels, which the proof in float32 covers.
"""

import tensorflow

from netdyno_worker.adapters.kit.statistics import unbiased_over_biased

tf = getattr(tensorflow.compat, "v1", tensorflow)  # the interface that versions 1 and 2 share


def batch_norm(x, scale, shift, epsilon):
    """(y, batch mean, unbiased batch variance) of NHWC images, in place of FusedBatchNorm."""
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    y = (x - mean) * (tf.rsqrt(variance + epsilon) * scale) + shift
    batch, height, width, _ = x.shape.as_list()
    return y, mean, variance * unbiased_over_biased(float(batch * height * width))


def local_response_norm(x, size, offset, share, beta):
    """x / (offset + share * sum of squares over `size` channels)^beta, in place of LRN."""
    channels, half = int(x.shape[3]), size // 2
    squares = tf.pad(tf.square(x), [[0, 0], [0, 0], [0, 0], [half, half]])
    sums = tf.add_n([squares[..., first : first + channels] for first in range(2 * half + 1)])
    return x * tf.pow(offset + share * sums, -beta)
