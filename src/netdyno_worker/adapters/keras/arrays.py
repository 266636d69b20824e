"""What the ops that work along axes or by lookup mean in keras.ops, and those that meet values of other shapes."""

import keras
from keras import ops

from netdyno_worker.adapters.keras.site import narrowed, wide


def _reshape(site):
    """In the graph's order, where channels come before rows."""
    layout, node = site.layout, site.node
    x = ops.reshape(layout.alike(site.inputs[0], site.kind, "plain"), node.shape)
    return layout.alike(x, "plain", node.kind)


def _transpose(site):
    """From one order in memory to the other at once."""
    axes, layout = site.node.attributes["axes"], site.layout
    order = [layout.axis(axes[axis], site.kind) for axis in layout.order(site.node.kind, len(axes))]
    return site.inputs[0] if order == sorted(order) else ops.transpose(site.inputs[0], order)


def _slice(site):
    attributes = site.node.attributes
    axis = site.layout.axis(attributes["axis"], site.kind)
    return site.inputs[0][(slice(None),) * axis + (slice(attributes["start"], attributes["stop"]),)]


def _concat(site):
    if len(site.inputs) == 1:
        return site.inputs[0]
    return ops.concatenate(site.inputs, site.layout.axis(site.node.attributes.get("axis", 1), site.kind))


def _reduced(function):
    """Without axes of length 1 the others are in the graph's order, because the value is no image any more."""

    def rule(site):
        axes, keep = site.node.attributes["axes"], site.node.attributes["keep"]
        x = site.inputs[0]
        if keep:
            axes = tuple(site.layout.axis(axis, site.kind) for axis in axes)
        else:
            x = site.layout.alike(x, site.kind, "plain")
        return narrowed(function(wide(x), axes, keepdims=keep), x)

    return rule


def _softmax(site):
    x = site.inputs[0]
    return narrowed(ops.softmax(wide(x), site.layout.axis(site.node.attributes["axis"], site.kind)), x)


def _clamp(site):
    """Its gradient passes at the bounds too; that of JAX's own function is halved there."""
    x, low, high = site.inputs[0], site.node.attributes["low"], site.node.attributes["high"]
    if keras.config.backend() != "jax":
        return ops.clip(x, low, high)
    bound = ops.where(x < low, ops.cast(low, x.dtype), ops.cast(high, x.dtype))
    return ops.where(ops.logical_and(x >= low, x <= high), x, bound)


def _one_hot(site):
    return ops.one_hot(site.inputs[0], site.node.attributes["classes"], dtype=keras.config.floatx())


def _gather(site):
    table, indices = site.inputs
    return ops.take(table, indices, axis=0)


ARRAYS = {
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "concat": _concat,
    "reduce_sum": _reduced(ops.sum),
    "reduce_mean": _reduced(ops.mean),
    "reduce_max": _reduced(ops.max),
    "softmax": _softmax,
    "clamp": _clamp,
    "gather": _gather,
    "one_hot": _one_hot,
    "matmul": lambda site: ops.matmul(*site.inputs),
    "subtract": lambda site: ops.subtract(*site.inputs),
    "divide": lambda site: ops.divide(*site.inputs),
    "exp": lambda site: ops.exp(site.inputs[0]),
    "log": lambda site: ops.log(site.inputs[0]),
    "rsqrt": lambda site: ops.rsqrt(site.inputs[0]),
    "erf": lambda site: ops.erf(site.inputs[0]),
    "softplus": lambda site: ops.softplus(site.inputs[0]),
}
