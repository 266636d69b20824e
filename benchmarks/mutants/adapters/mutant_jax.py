"""JAX's adapter with the mistakes of the catalogue where a programme asks for one."""

import jax.numpy as jnp
from jax import lax
from netdyno_worker.adapters.wrong_rules import RULES, Library

from netdyno_worker.adapters.jax import ops, optimizers, trainer

versions = trainer.versions
build = trainer.build
UNSUPPORTED = {}
FUSED = {"local_response_norm", "global_mean_pool", "silu", "rnn", "lstm", "gru"}

_RIGHT = {
    op: getattr(ops.Ops, op) for op in ("convolution", "linear", "max_pool", "mean_pool", "batch_norm", "flatten")
}


def _with_weight(op, turn):
    return lambda self, node, x, weight, *bias: _RIGHT[op](self, node, x, turn(weight), *bias)


def _in_half(op):
    return lambda self, node, x, weight, *bias: _half(_RIGHT[op](self, node, _half(x), _half(weight), *bias))


def _half(x):
    return x.astype(jnp.float16).astype(x.dtype)


def _padded_with_zeros(self, node, x):
    top, bottom, left, right = node.attributes["padding"]
    padded = jnp.pad(x, [(0, 0), (top, bottom), (left, right), (0, 0)])
    return self._windows.max_pool(padded, dict(node.attributes, padding=(0, 0, 0, 0)))


def _counting_padding(self, node, x):
    top, bottom, left, right = node.attributes["padding"]
    padded = jnp.pad(x, [(0, 0), (top, bottom), (left, right), (0, 0)])
    return self._windows.mean_pool(padded, dict(node.attributes, padding=(0, 0, 0, 0)))


def _channels_last(self, node, x):
    return x.reshape(node.shape)


def _biased(self, node, x, scale, shift, mean, variance):
    y, (next_mean, next_variance) = _RIGHT["batch_norm"](self, node, x, scale, shift, mean, variance)
    count, share = x.size // scale.size, node.attributes["momentum"]
    latest = (next_variance - (1.0 - share) * variance) / share * ((count - 1.0) / count)
    return y, lax.stop_gradient((next_mean, variance + share * (latest - variance)))


MISTAKES = {
    ("convolution", "transposed"): _with_weight("convolution", lambda kernel: kernel.transpose(1, 0, 2, 3)),
    ("convolution", "flipped"): _with_weight("convolution", lambda kernel: kernel[::-1, ::-1]),
    ("convolution", "half"): _in_half("convolution"),
    ("linear", "transposed"): _with_weight("linear", lambda matrix: matrix.T),
    ("linear", "half"): _in_half("linear"),
    ("max_pool", "zeros"): _padded_with_zeros,
    ("mean_pool", "counts padding"): _counting_padding,
    ("flatten", "channels last"): _channels_last,
    ("batch_norm", "biased"): _biased,
}


def _choosing(op):
    def method(self, node, *inputs):
        mistake = node.attributes.get("mistake")
        return (_RIGHT[op] if mistake is None else MISTAKES[op, mistake])(self, node, *inputs)

    return method


def _moved(self, values, gradients, state, count):
    rule = RULES.get(self._rule["kind"])
    if rule is None:
        return _right_moved(self, values, gradients, state, count)
    changed, following = {}, []
    library = Library(jnp.sqrt, (count + 1).astype(self._type), _without_first)
    for name, moments in zip(self._names, state[0]):
        change, new = rule(gradients[name], values[name], moments, self._rule, library)
        changed[name] = values[name] - change
        following.append(new)
    return changed, (following, None)


def _without_first(gradient):
    return gradient.at[(0,) * gradient.ndim].set(0.0)


_right_moved = optimizers.Optimizer.moved
optimizers.Optimizer.moved = _moved
optimizers.MOMENTS.update(dict.fromkeys(RULES, 2))
for _op in _RIGHT:
    setattr(ops.Ops, _op, _choosing(_op))
