"""How Chainer normalises batches correctly on several CPU threads.

iDeep's backward pass of batch normalisation (ideep4py 2.0.0) loses part of its sums where several threads share a
channel's values: gradients are wrong, for some shapes always and for others now and then. On one thread it is right,
so that pass alone runs on one, and everything else on all.
"""

import ctypes
import os

from chainer.backends import intel64
from chainer.functions.normalization import batch_normalization as native


def batch_norm_for(threads, device):
    """function(x, scale, shift, running mean, running variance, epsilon, decay) for a job."""
    if device.name != "@intel64" or threads == 1:
        return _batch_norm(native._impl_selector)
    openmp = ctypes.CDLL(os.path.join(os.path.dirname(intel64.ideep.__file__), "lib", "libiomp5.so"))
    return _batch_norm(_selector(lambda count: openmp.omp_set_num_threads(count), threads))


def _batch_norm(select):
    def batch_norm(*arguments):
        mean, variance, epsilon, decay = arguments[3:]
        node = native.BatchNormalization(epsilon, mean, variance, decay, impl_selector=select)
        return node.apply(arguments[:3])[0]

    return batch_norm


def _selector(set_threads, threads):
    class OneThreadBackward(native._IDeepBatchNormalizationImpl):
        def backward(self, *arguments, **named):
            set_threads(1)
            try:
                return native._IDeepBatchNormalizationImpl.backward(self, *arguments, **named)
            finally:
                set_threads(threads)

    def select(function, inputs):
        chosen = native._impl_selector(function, inputs)
        return OneThreadBackward() if isinstance(chosen, native._IDeepBatchNormalizationImpl) else chosen

    return select
