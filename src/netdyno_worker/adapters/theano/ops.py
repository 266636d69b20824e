"""What each op of a program means in Theano: symbolic expressions, made once and then compiled."""

from collections import namedtuple

import numpy as np

from netdyno_worker.adapters.kit.powers import negative_power
from netdyno_worker.adapters.kit.windows import axes_of
from netdyno_worker.adapters.theano.arrays import ARRAYS, softplus
from netdyno_worker.adapters.theano.start import tensor, theano
from netdyno_worker.adapters.theano.windows import (
    convolution,
    max_pool,
    may_tie,
    mean_pool,
    transposed_convolution,
)
from netdyno_worker.program import inputs_by_role, nodes_for, shapes

# What an op's rule may ask: its node, the shapes of its inputs, the axes of its windows if it has any, the generator
# of random numbers, and whether the values of a max pool's windows may be tied.
Site = namedtuple("Site", "node shapes axes random tied")


def evaluate(program, targets, values, random):
    """Adds to `values` the expression of every node that `targets` need; state in it becomes its next values."""
    known = shapes(program)
    for node in nodes_for(program, targets):
        axes = axes_of(node, known) if "strides" in node.attributes else ()
        tied = node.op == "max_pool" and may_tie(node, program)
        site = Site(node, [known[name] for name in node.inputs], axes, random, tied)
        found = RULES[node.op](site, *[values[name] for name in node.inputs])
        state = program.facts[node.op].state
        moved = [name for role, name in inputs_by_role(program, node) if role in state]
        values.update(zip([node.name] + moved, found if moved else [found]))


def _linear(site, x, weight, bias=None):
    y = tensor.dot(x, weight.T)
    return y if bias is None else y + bias


def _batch_norm(site, x, scale, shift, mean, variance):
    """The normalised values, and where the running mean and variance move."""
    attributes = site.node.attributes
    # Theano's own limit is 1e-5 in double precision, and 1e-5 itself rounds to a float32 below it.
    lowest = 1e-5 if x.dtype == "float64" else np.nextafter(np.float32(1e-5), np.float32(1))
    epsilon = max(np.dtype(x.dtype).type(attributes["epsilon"]), lowest)
    axes = (0,) + tuple(range(2, x.ndim))
    found = tensor.nnet.bn.batch_normalization_train(
        x, scale, shift, axes, epsilon, attributes["momentum"], mean, variance
    )
    return found[0], found[3], found[4]


def _local_response_norm(site, x):
    """With its own gradient: derived step by step, every slice would be added into a fresh array."""
    attributes, shape = site.node.attributes, site.shapes[0]
    size, beta = attributes["size"], attributes["beta"]
    share = attributes["alpha"] / size

    def parts(x):
        divisor = attributes["k"] + share * _channel_sums(x * x, size, shape)
        return divisor, negative_power(divisor, beta, _inverse_root, tensor.sqrt)

    def backward(inputs, gradients):
        (x,), (gradient,) = inputs, gradients
        divisor, power = parts(x)
        shared = _channel_sums(gradient * x * power / divisor, size, shape)
        return [gradient * power - (2.0 * share * beta) * x * shared]

    whole = tensor.tensor4()
    norm = theano.OpFromGraph([whole], [whole * parts(whole)[1]], inline=True, grad_overrides=backward)
    return norm(x)


def _channel_sums(x, size, shape):
    """At each channel the sum over the `size` channels centred on it; those outside count as 0."""
    half = size // 2
    padded = tensor.alloc(np.zeros((), x.dtype), shape[0], shape[1] + 2 * half, *shape[2:])
    padded = tensor.set_subtensor(padded[:, half : half + shape[1]], x)
    return sum((padded[:, i : i + shape[1]] for i in range(1, size)), padded[:, : shape[1]])


def _inverse_root(x):
    return 1.0 / tensor.sqrt(x)


def _relu(site, x):
    """Not nnet.relu, whose gradient at 0 is one half."""
    return tensor.switch(x > 0, x, np.float32(0))


def _dropout(site, x):
    rate = site.node.attributes["rate"]
    if rate == 0:
        return x
    kept = site.random.binomial(size=site.shapes[0], p=1.0 - rate, dtype=x.dtype)
    return x * kept * (1.0 / (1.0 - rate))


def _bernoulli(site, probability):
    drawn = site.random.uniform(size=site.shapes[0], dtype=probability.dtype)
    return theano.gradient.disconnected_grad(tensor.cast(drawn < probability, probability.dtype))


def _normal(site):
    return site.random.normal(size=site.node.attributes["shape"], dtype=theano.config.floatX)


def _cross_entropy(site, logits, labels):
    """Theano joins these into one stable op."""
    return tensor.nnet.categorical_crossentropy(tensor.nnet.softmax(logits), labels).mean()


def _gaussian_kl(site, mean, log_variance):
    terms = 1.0 + log_variance - tensor.sqr(mean) - tensor.exp(log_variance)
    return terms.sum() * (-0.5 / site.shapes[0][0])


RULES = {
    **ARRAYS,
    "convolution": convolution,
    "transposed_convolution": transposed_convolution,
    "linear": _linear,
    "max_pool": max_pool,
    "mean_pool": mean_pool,
    "global_mean_pool": lambda site, x: x.mean(axis=(2, 3)),
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "relu": _relu,
    "tanh": lambda site, x: tensor.tanh(x),
    "sigmoid": lambda site, x: tensor.nnet.sigmoid(x),
    "dropout": _dropout,
    "flatten": lambda site, x: x.flatten(2),
    "scale": lambda site, x: x * float(site.node.attributes["factor"]),
    "power": lambda site, x: x ** float(site.node.attributes["exponent"]),
    "softmax_cross_entropy": _cross_entropy,
    "mean_squared_error": lambda site, x, target: tensor.sqr(x - target).mean(),
    "binary_cross_entropy": lambda site, x, target: (softplus(x) - x * target).mean(),
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": lambda site, x: theano.gradient.disconnected_grad(x),
    "bernoulli": _bernoulli,
    "normal": _normal,
}

FUSED = {"local_response_norm", "global_mean_pool"}
