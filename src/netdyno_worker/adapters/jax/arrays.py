"""What the ops that work along axes or by lookup mean in jax.numpy, on values that lie as their kinds do."""

import jax
import jax.numpy as jnp
from jax import lax

from netdyno_worker.adapters.jax.forms import axis_in, from_form, to_form
from netdyno_worker.adapters.jax.windows import widened


def _reshape(node, kind, x):
    """In the graph's order, where channels come before rows."""
    return to_form(from_form(x, kind).reshape(node.shape), node.kind)


def _transpose(node, kind, x):
    """XLA makes one transposition of several."""
    return to_form(from_form(x, kind).transpose(node.attributes["axes"]), node.kind)


def _slice(node, kind, x):
    axis = axis_in(kind, node.attributes["axis"])
    return lax.slice_in_dim(x, node.attributes["start"], node.attributes["stop"], axis=axis)


def _concat(node, kind, *values):
    return jnp.concatenate(values, axis_in(kind, node.attributes.get("axis", 1)))


def _reduced(function):
    """Without axes of length 1 the others are in the graph's order, because the value is no image any more."""

    def rule(node, kind, x):
        keep = node.attributes["keep"]
        x = widened(x) if keep else widened(from_form(x, kind))
        axes = tuple(axis_in(kind, axis) if keep else axis for axis in node.attributes["axes"])
        return function(x, axes, keepdims=keep)

    return rule


def _narrow_again(rule):
    return lambda node, kind, x: rule(node, kind, x).astype(x.dtype)


def _softmax(node, kind, x):
    return jax.nn.softmax(widened(x), axis_in(kind, node.attributes["axis"]))


def _gather(node, kind, table, indices):
    return table.at[indices].get(mode="clip")


# By op; each is given the node, the kind of its first input, and its inputs.
ARRAYS = {
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "concat": _concat,
    "reduce_sum": _narrow_again(_reduced(jnp.sum)),
    "reduce_mean": _narrow_again(_reduced(jnp.mean)),
    "reduce_max": _narrow_again(_reduced(jnp.max)),
    "softmax": _narrow_again(_softmax),
    "gather": _gather,
}
