"""TensorFlow 2's adapter with the mistakes of the catalogue where a programme asks for one."""

import tensorflow as tf
from netdyno_worker.adapters.wrong_rules import RULES, Library

from netdyno_worker.adapters.kit.windows import axes_of
from netdyno_worker.adapters.tensorflow import translation
from netdyno_worker.adapters.tensorflow.forms import laid
from netdyno_worker.adapters.tensorflow_2 import optimizers, trainer

versions = trainer.versions
build = trainer.build
UNSUPPORTED = {}
FUSED = {"local_response_norm", "global_mean_pool", "rnn", "lstm", "gru"}

_OPS = ("convolution", "linear", "max_pool", "mean_pool", "batch_norm", "flatten")
_RIGHT = {op: getattr(translation.Ops, op) for op in _OPS}


def _with_weight(op, turn):
    return lambda self, node, x, weight, *bias: _RIGHT[op](self, node, x, turn(weight), *bias)


def _in_half(op):
    return lambda self, node, x, weight, *bias: _half(_RIGHT[op](self, node, _half(x), _half(weight), *bias))


def _half(x):
    return tf.cast(tf.cast(x, tf.float16), x.dtype)


def _over_padding(pool):
    """A pool for which padding is a part of the image."""

    def method(self, node, x):
        top, bottom, left, right = node.attributes["padding"]
        padded = tf.pad(x, [[0, 0], [top, bottom], [left, right], [0, 0]])
        axes = [
            axis._replace(size=axis.size + sum(sides), near=0)
            for axis, sides in zip(axes_of(node, self._shapes), ((top, bottom), (left, right)))
        ]
        return getattr(self._windows, pool)(padded, axes)

    return method


def _channels_last(self, node, x):
    return laid(tf.reshape(x, node.shape), self.forms.of[node.name], tf)


def _biased(self, node, x, *parameters):
    y, (mean, variance) = _RIGHT["batch_norm"](self, node, x, *parameters)
    count = 1.0
    for length in node.shape[:1] + node.shape[2:]:
        count *= length
    return y, (mean, variance * ((count - 1.0) / count))


MISTAKES = {
    ("convolution", "transposed"): _with_weight("convolution", lambda kernel: tf.transpose(kernel, [1, 0, 2, 3])),
    ("convolution", "flipped"): _with_weight("convolution", lambda kernel: tf.reverse(kernel, [0, 1])),
    ("convolution", "half"): _in_half("convolution"),
    ("linear", "transposed"): _with_weight("linear", tf.transpose),
    ("linear", "half"): _in_half("linear"),
    ("max_pool", "zeros"): _over_padding("max_pool"),
    ("mean_pool", "counts padding"): _over_padding("mean_pool"),
    ("flatten", "channels last"): _channels_last,
    ("batch_norm", "biased"): _biased,
}


def _choosing(op):
    def method(self, node, *inputs):
        mistake = node.attributes.get("mistake")
        return (_RIGHT[op] if mistake is None else MISTAKES[op, mistake])(self, node, *inputs)

    return method


class _WrongOptimizer:
    def __init__(self, rule, variables):
        self._rule = rule
        self._count = tf.Variable(tf.zeros([], variables[0].dtype), trainable=False)
        self._held = [(v, [optimizers._zeros_like(v), optimizers._zeros_like(v)]) for v in variables]

    def apply(self, gradients, finite=None):
        library = Library(tf.sqrt, self._count.assign_add(1.0), _without_first)
        for (variable, moments), gradient in zip(self._held, gradients):
            wrong = RULES[self._rule["kind"]]
            change, following = wrong(gradient, variable.read_value(), moments, self._rule, library)
            for moment, value in zip(moments, following):
                moment.assign(value)
            variable.assign_sub(change)


def _without_first(gradient):
    return tf.tensor_scatter_nd_update(gradient, [[0] * len(gradient.shape)], tf.zeros([1], gradient.dtype))


optimizers.OPTIMIZERS.update(dict.fromkeys(RULES, _WrongOptimizer))
for _op in _OPS:
    setattr(translation.Ops, _op, _choosing(_op))
