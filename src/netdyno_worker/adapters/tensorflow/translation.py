"""What each op of a program means in TensorFlow, over NHWC images: put into a graph once, in versions 1 and 2."""

from collections import namedtuple

import numpy as np
import tensorflow

from netdyno_worker.adapters.kit.windows import axes_of
from netdyno_worker.adapters.tensorflow import composed, recurrent
from netdyno_worker.adapters.tensorflow.arrays import ARRAYS, alike, widened
from netdyno_worker.adapters.tensorflow.forms import Forms, Natural, as_image, flattened, laid, natural, restored
from netdyno_worker.adapters.tensorflow.windows import Windows
from netdyno_worker.program import inputs_by_role, kinds, nodes_for, shapes

tf = getattr(tensorflow.compat, "v1", tensorflow)  # the interface that versions 1 and 2 share

# pads_convolutions, pads_pools: they take padding on four sides. groups: a convolution takes groups.
# strides: a convolution takes them however few channels there are, see needs_subsampling().
# batch_norm: function(x, scale, shift, epsilon) -> (y, batch mean, unbiased batch variance), of rank 4.
# kept_type, product_type: in which values are kept, and in which convolutions and matrix products are computed.
Abilities = namedtuple("Abilities", "pads_convolutions pads_pools groups strides batch_norm kept_type product_type")
# latest: {running statistic: (its value in this batch, how much that counts)}. gradients: in the parameters' order.
Descent = namedtuple("Descent", "loss latest gradients")


class Ops(object):
    """Puts parts of one program into the current graph; values are tensors by name, ordered as `forms` says."""

    def __init__(self, program, abilities):
        self.forms = Forms(program)
        self._program = program
        self._shapes = shapes(program)
        self._kinds = kinds(program)
        self._windows = Windows(abilities)
        self._abilities = abilities

    def draws(self, targets):
        """{node: random tensor} where `targets` need one: drawn once a step, the same in all its updates."""
        found = {}
        for node in nodes_for(self._program, targets):
            if self._program.facts[node.op].random and node.attributes.get("rate") != 0:
                draw = tf.random_normal if node.op == "normal" else tf.random_uniform
                shape, seed = self.forms.of[node.name].lies, node.attributes["seed"] % 2**31
                found[node.name] = draw(shape, dtype=self._abilities.kept_type, seed=seed)
        return found

    def outputs(self, values, draws):
        values = dict(values)
        self._evaluate(nodes_for(self._program, self._program.outputs), values, draws)
        return [widened(values[name]) for name in self._program.outputs]

    def descend(self, update, values, draws, scale=None):
        """A Descent; its gradients are of the loss times `scale`. An op's are all computed before any is used: then
        nothing reads a variable any more when it is changed, and version 2 need not copy it."""
        parameters = [values[name] for name in update.parameters]
        values = dict(values)
        latest = self._evaluate(nodes_for(self._program, [update.loss]), values, draws)
        loss = values[update.loss]
        found = tf.gradients(loss if scale is None else loss * scale, parameters, gate_gradients=True)
        # Those of rows that were looked up arrive as rows and places.
        gradients = [tf.zeros_like(p) if g is None else tf.convert_to_tensor(g) for p, g in zip(parameters, found)]
        return Descent(loss, latest, gradients)

    def _evaluate(self, nodes, values, draws):
        """Adds every node to `values`; returns the latest statistics."""
        latest = {}
        for node in nodes:
            inputs = [self._as_wanted(node, place, values[name]) for place, name in enumerate(node.inputs)]
            state = self._program.facts[node.op].state
            if state:
                values[node.name], statistics = getattr(self, node.op)(node, *inputs)
                kept = [name for role, name in inputs_by_role(self._program, node) if role in state]
                share = node.attributes["momentum"]
                latest.update((name, (value, share)) for name, value in zip(kept, statistics))
            elif node.name in draws:
                values[node.name] = DRAWN[node.op](node, draws[node.name], *inputs)
            elif node.op in SIMPLE:
                values[node.name] = SIMPLE[node.op](node, *inputs)
            elif node.op in ARRAYS:
                have = Natural(self._kinds[node.inputs[0]], self.forms.wanted(node, 0))
                values[node.name] = ARRAYS[node.op](node, have, *inputs)
            else:
                values[node.name] = getattr(self, node.op)(node, *inputs)
        return latest

    def _as_wanted(self, node, place, value):
        return _turned(value, self.forms.of[node.inputs[place]], self.forms.wanted(node, place))

    def convolution(self, node, x, kernel, bias=None):
        x, kernel = self._narrowed(x), self._narrowed(kernel)
        y = self._windows.convolution(x, kernel, axes_of(node, self._shapes), node.attributes["groups"])
        return y if bias is None else _biased(y, bias)

    def linear(self, node, x, matrix, bias=None):
        y = tf.matmul(self._narrowed(x), self._narrowed(matrix))
        return y if bias is None else _biased(y, bias)

    def recurrent(self, node, x, *weights):
        return recurrent.layer(node.op, self._turned_linear, x, weights)

    rnn = lstm = gru = recurrent

    def _turned_linear(self, x, weight, bias):
        y = tf.matmul(self._narrowed(x), self._narrowed(weight), transpose_b=True)
        return y if bias is None else _biased(y, bias)

    def transposed_convolution(self, node, x, kernel, bias=None):
        x, kernel = self._narrowed(x), self._narrowed(kernel)
        y = self._windows.transposed_convolution(x, kernel, node.attributes)
        return y if bias is None else _biased(y, bias)

    def matmul(self, node, a, b):
        return tf.matmul(self._narrowed(a), self._narrowed(b))

    def one_hot(self, node, indices):
        return tf.one_hot(indices, node.attributes["classes"], dtype=self._abilities.kept_type)

    def max_pool(self, node, x):
        return self._windows.max_pool(x, axes_of(node, self._shapes))

    def mean_pool(self, node, x):
        return tf.cast(self._windows.mean_pool(widened(x), axes_of(node, self._shapes)), x.dtype)

    def flatten(self, node, x):
        source = node.inputs[0]
        if self._kinds[source] != "image":
            return tf.reshape(restored(x, self.forms.wanted(node, 0), tf), node.shape)
        rows, have = tf.reshape(x, node.shape), flattened(node.shape, self._shapes[source][1:])
        return rows if have == self.forms.of[node.name] else restored(rows, have, tf)

    def batch_norm(self, node, x, scale, shift, running_mean, running_variance):
        """The normalised values, and (mean, unbiased variance) of this batch."""
        have, image = natural(node.shape, node.kind), as_image(node.shape)
        images = _turned(x, have, image)
        normalised = composed.batch_norm if x.dtype == tf.float64 else self._abilities.batch_norm
        y, mean, variance = normalised(images, scale, shift, node.attributes["epsilon"])
        return _turned(y, image, have), (mean, variance)

    def _narrowed(self, value):
        return tf.cast(value, self._abilities.product_type)


def _turned(value, have, want):
    return value if have == want else laid(restored(value, have, tf), want, tf)


def _biased(y, bias):
    """In float32: TensorFlow sums the gradient of a narrow bias in narrow numbers, with errors of a tenth."""
    if y.dtype == bias.dtype:
        return tf.nn.bias_add(y, bias)

    @tf.custom_gradient
    def add(y, bias):
        def back(gradient):
            return gradient, tf.reduce_sum(widened(gradient), list(range(len(gradient.shape) - 1)))

        return tf.nn.bias_add(y, tf.cast(bias, y.dtype)), back

    return add(y, bias)


def _local_response_norm(node, x):
    size, alpha, beta, k = (node.attributes[key] for key in ("size", "alpha", "beta", "k"))
    if x.dtype == tf.float64:
        return composed.local_response_norm(x, size, k, alpha / float(size), beta)
    y = tf.nn.local_response_normalization(widened(x), size // 2, k, alpha / float(size), beta)
    return tf.cast(y, x.dtype)


def _global_mean_pool(node, x):
    return tf.cast(tf.reduce_mean(widened(x), [1, 2]), x.dtype)


def _cross_entropy(node, logits, labels):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=widened(logits))
    return tf.reduce_mean(losses)


def _squared_error(node, x, target):
    return tf.reduce_mean(tf.square(widened(x) - widened(target)))


def _binary_cross_entropy(node, logits, target):
    terms = tf.nn.sigmoid_cross_entropy_with_logits(labels=widened(target), logits=widened(logits))
    return tf.reduce_mean(terms)


def _gaussian_kl(node, mean, log_variance):
    mean, log_variance = widened(mean), widened(log_variance)
    terms = 1.0 + log_variance - tf.square(mean) - tf.exp(log_variance)
    return tf.reduce_sum(terms) * (-0.5 / int(mean.shape[0]))


def _dropout(node, drawn, x):
    rate = node.attributes["rate"]
    return x * (tf.cast(drawn >= rate, x.dtype) * tf.constant(1.0 / (1.0 - rate), x.dtype))


SIMPLE = {
    "relu": lambda node, x: tf.nn.relu(x),
    "tanh": lambda node, x: tf.tanh(x),
    "sigmoid": lambda node, x: tf.sigmoid(x),
    "dropout": lambda node, x: x,  # of rate 0; others are drawn
    "global_mean_pool": _global_mean_pool,
    "local_response_norm": _local_response_norm,
    "add": lambda node, *x: tf.add(*alike(x)),
    "multiply": lambda node, *x: tf.multiply(*alike(x)),
    "scale": lambda node, x: x * tf.constant(node.attributes["factor"], x.dtype),
    "power": lambda node, x: tf.pow(x, tf.constant(node.attributes["exponent"], x.dtype)),
    "subtract": lambda node, *x: tf.subtract(*alike(x)),
    "divide": lambda node, *x: tf.divide(*alike(x)),
    "exp": lambda node, x: tf.exp(x),
    "log": lambda node, x: tf.log(x),
    "rsqrt": lambda node, x: tf.rsqrt(x),
    "erf": lambda node, x: tf.erf(x),
    "softplus": lambda node, x: tf.nn.softplus(x),
    "clamp": lambda node, x: tf.clip_by_value(x, node.attributes["low"], node.attributes["high"]),
    "stop_gradient": lambda node, x: tf.stop_gradient(x),
    "softmax_cross_entropy": _cross_entropy,
    "mean_squared_error": _squared_error,
    "binary_cross_entropy": _binary_cross_entropy,
    "gaussian_kl": _gaussian_kl,
}

DRAWN = {
    "dropout": _dropout,
    "bernoulli": lambda node, drawn, probability: tf.cast(drawn < widened(probability), probability.dtype),
    "normal": lambda node, drawn: drawn,
}


def placed(array, form, kind):
    """A numpy array in its order in memory: numbers of `kind`, integers in the type that the losses take."""
    return np.array(laid(array, form, np), dtype=np.int64 if array.dtype.kind == "i" else kind, order="C")


def rates_of(rule, kind):
    """An optimizer's numbers as numpy's of that type: TensorFlow makes float32 of Python's."""
    return {name: value if name == "kind" else kind.type(value) for name, value in rule.items()}


def read_back(array, form):
    """A copy in the graph's order."""
    return np.array(restored(np.asarray(array), form, np), order="C")
