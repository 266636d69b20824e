"""What each op of a program means in jax.numpy, over NHWC images: traced once, then straight-line code."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from netdyno_worker.adapters.jax import recurrent
from netdyno_worker.adapters.jax.arrays import ARRAYS
from netdyno_worker.adapters.jax.forms import axis_in, reform, to_form
from netdyno_worker.adapters.jax.windows import Windows, is_wide, widened
from netdyno_worker.adapters.kit.powers import negative_power
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.kit.statistics import unbiased_over_biased
from netdyno_worker.program import inputs_by_role, kinds


class Ops(object):
    """Evaluates nodes of a job's program; values lie as `forms` says."""

    def __init__(self, job):
        self._program = job.program
        self._kinds = kinds(job.program)
        self.forms = dict(self._kinds, **self._parameter_forms())
        self._precision = lax.Precision.DEFAULT if job.precision == "tf32" else lax.Precision.HIGHEST
        self._product_type = {"bfloat16": jnp.bfloat16, "float16": jnp.float16}.get(job.precision, kept_type(job))
        self._kept_type = kept_type(job)
        self._windows = Windows(job.device == "cpu", self._precision)
        self._seed = job.seed
        self._generator = "threefry2x32" if job.device == "cpu" else "rbg"

    def evaluate(self, nodes, values, count):
        """Adds every node to `values`; returns {running statistic: its next value}.

        `count` is the step, for nodes that draw.
        """
        moved = {}
        for node in nodes:
            facts = self._program.facts[node.op]
            inputs = [
                reform(values[name], self.forms[name], self._wanted_form(node, place))
                for place, name in enumerate(node.inputs)
            ]
            if facts.state:
                values[node.name], statistics = getattr(self, node.op)(node, *inputs)
                kept = [name for role, name in inputs_by_role(self._program, node) if role in facts.state]
                moved.update(zip(kept, statistics))
            elif facts.random:
                values[node.name] = DRAWS[node.op](self.key(node, count), node, *inputs)
            elif node.op in SIMPLE:
                values[node.name] = SIMPLE[node.op](node, *inputs)
            elif node.op in ARRAYS:
                values[node.name] = ARRAYS[node.op](node, self._kinds[node.inputs[0]], *inputs)
            else:
                values[node.name] = getattr(self, node.op)(node, *inputs)
        return moved

    def key(self, node, count):
        """Differs by the node's seed and the step; the same in all updates of a step."""
        with jax.ensure_compile_time_eval():  # XLA would compute the node's key again in every step
            key = jax.random.key(self._seed % 2**32, impl=self._generator)
            own = jax.random.fold_in(key, node.attributes["seed"] % 2**32)
        return jax.random.fold_in(own, count)

    def convolution(self, node, x, weight, bias=None):
        x, weight = x.astype(self._product_type), weight.astype(self._product_type)
        return _biased(self._windows.convolution(x, weight, node.attributes), bias)

    def linear(self, node, x, weight, bias=None):
        return _biased(self._product(x, weight), bias)

    def recurrent(self, node, x, *weights):
        return recurrent.layer(node.op, self._product, x, weights).astype(self._product_type)

    rnn = lstm = gru = recurrent

    def transposed_convolution(self, node, x, weight, bias=None):
        x, weight = x.astype(self._product_type), weight.astype(self._product_type)
        return _biased(self._windows.transposed_convolution(x, weight, node.attributes), bias)

    def matmul(self, node, a, b):
        return self._product(a, b)

    def one_hot(self, node, indices):
        return jax.nn.one_hot(indices, node.attributes["classes"], dtype=self._kept_type)

    def max_pool(self, node, x):
        return self._windows.max_pool(x, node.attributes)

    def mean_pool(self, node, x):
        return self._windows.mean_pool(x, node.attributes)

    def batch_norm(self, node, x, scale, shift, mean, variance):
        """The normalised values, and where the running mean and variance move."""
        channel = axis_in(node.kind, 1)
        axes = tuple(axis for axis in range(x.ndim) if axis != channel)

        def along(vector):
            """So that its elements meet the channels of `x`."""
            return vector.reshape(vector.shape + (1,) * (x.ndim - 1 - channel))

        wide = widened(x)
        batch_mean = jnp.mean(wide, axes)
        centred = wide - along(batch_mean)
        if is_wide(x):
            batch_variance = jnp.mean(jnp.square(wide - along(batch_mean)), axes)
        else:  # in one pass, which reads narrow values only once: their rounding exceeds its error
            batch_variance = jnp.maximum(jnp.mean(jnp.square(wide), axes) - jnp.square(batch_mean), 0.0)
        factor = scale * lax.rsqrt(batch_variance + node.attributes["epsilon"])
        y = (centred * along(factor) + along(shift)).astype(x.dtype)
        momentum = node.attributes["momentum"]
        unbiased = batch_variance * unbiased_over_biased(x.size // x.shape[channel])
        moved = (mean + momentum * (batch_mean - mean), variance + momentum * (unbiased - variance))
        return y, lax.stop_gradient(moved)

    def flatten(self, node, x):
        return ARRAYS["reshape"](node, self._kinds[node.inputs[0]], x)

    def _product(self, a, b):
        return jnp.matmul(a.astype(self._product_type), b.astype(self._product_type), precision=self._precision)

    def _wanted_form(self, node, place):
        """The form in which a node takes its input at `place`; a loss compares values element by element."""
        if place == 1 and node.op == "linear":
            return "matrix"
        return self._kinds[node.inputs[0 if self._program.facts[node.op].loss else place]]

    def _parameter_forms(self):
        """{parameter name: form}, as its first user takes it."""
        names = {parameter.name for parameter in self._program.parameters}
        forms = {}
        for node in self._program.nodes:
            for place, name in enumerate(node.inputs):
                if name in names:
                    forms.setdefault(name, self._wanted_form(node, place))
        return forms


def _biased(y, bias):
    """Widened, because the bias's gradient is a sum over the whole batch in the type of the addition."""
    return y if bias is None else (widened(y) + bias).astype(y.dtype)


@jax.custom_jvp
def _softplus(x):
    """JAX's own derives it as of a sum of two exponentials, at twice the cost."""
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


_softplus.defjvps(lambda change, y, x: change * lax.logistic(x))


def _clamp(node, x):
    """Its gradient passes at the bounds too."""
    low, high = (np.array(node.attributes[bound], x.dtype) for bound in ("low", "high"))
    return jnp.where((x >= low) & (x <= high), x, jnp.where(x < low, low, high))


def _local_response_norm(node, x):
    return _response_norm(node.attributes)(widened(x)).astype(x.dtype)


def _response_norm(attributes):
    """With its own gradient: derived step by step, XLA would sum every window several times."""
    size, beta = attributes["size"], attributes["beta"]
    share = attributes["alpha"] / size

    def keep(x):
        divisor = attributes["k"] + share * _channel_sums(x * x, size)
        power = negative_power(divisor, beta, lax.rsqrt, lax.sqrt)
        return x * power, (x, divisor, power)

    def backward(kept, gradient):
        x, divisor, power = kept
        shared = _channel_sums(gradient * x * power / divisor, size)
        return (gradient * power - (2.0 * share * beta) * x * shared,)

    norm = jax.custom_vjp(lambda x: keep(x)[0])
    norm.defvjp(keep, backward)
    return norm


def _channel_sums(x, size):
    channels = x.shape[-1]
    padded = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(size // 2, size // 2)])
    return sum(lax.slice_in_dim(padded, i, i + channels, axis=x.ndim - 1) for i in range(size))


def _global_mean_pool(node, x):
    return jnp.mean(widened(x), (1, 2)).astype(x.dtype)


def _cross_entropy(node, logits, labels):
    """A comparison picks the labelled logit: its gradient needs no scatter."""
    logits = widened(logits)
    labelled = labels[:, None] == jnp.arange(logits.shape[1], dtype=labels.dtype)
    picked = jnp.sum(jnp.where(labelled, logits, 0.0), 1)
    return jnp.mean(jax.nn.logsumexp(logits, 1) - picked)


def _squared_error(node, x, target):
    return jnp.mean(jnp.square(widened(x) - widened(target)))


def _binary_cross_entropy(node, logits, target):
    logits = widened(logits)
    return jnp.mean(_softplus(logits) - logits * widened(target))


def _gaussian_kl(node, mean, log_variance):
    mean, log_variance = widened(mean), widened(log_variance)
    terms = 1.0 + log_variance - jnp.square(mean) - jnp.exp(log_variance)
    return -0.5 * jnp.sum(terms) / mean.shape[0]


def _dropout(key, node, x):
    rate = node.attributes["rate"]
    if rate == 0:
        return x
    kept = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(kept, x * (1.0 / (1.0 - rate)), jnp.zeros((), x.dtype))


def _bernoulli(key, node, probability):
    drawn = jax.random.uniform(key, probability.shape) < lax.stop_gradient(probability)
    return drawn.astype(probability.dtype)


def _normal(key, node):
    return to_form(jax.random.normal(key, node.shape), node.kind)


SIMPLE = {
    "relu": lambda node, x: jax.nn.relu(x),
    "tanh": lambda node, x: jnp.tanh(x),
    "sigmoid": lambda node, x: lax.logistic(x),
    "silu": lambda node, x: jax.nn.silu(x),
    "global_mean_pool": _global_mean_pool,
    "local_response_norm": _local_response_norm,
    "add": lambda node, a, b: a + b,
    "multiply": lambda node, a, b: a * b,
    "scale": lambda node, x: x * node.attributes["factor"],
    "power": lambda node, x: x ** node.attributes["exponent"],
    "subtract": lambda node, a, b: a - b,
    "divide": lambda node, a, b: a / b,
    "exp": lambda node, x: jnp.exp(x),
    "log": lambda node, x: jnp.log(x),
    "rsqrt": lambda node, x: lax.rsqrt(x),
    "erf": lambda node, x: lax.erf(x),
    "softplus": lambda node, x: _softplus(x),
    "clamp": _clamp,
    "stop_gradient": lambda node, x: lax.stop_gradient(x),
    "softmax_cross_entropy": _cross_entropy,
    "mean_squared_error": _squared_error,
    "binary_cross_entropy": _binary_cross_entropy,
    "gaussian_kl": _gaussian_kl,
}

DRAWS = {"dropout": _dropout, "bernoulli": _bernoulli, "normal": _normal}

FUSED = {"local_response_norm", "global_mean_pool", "silu", "rnn", "lstm", "gru"}
