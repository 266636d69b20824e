"""What the ops that work along axes or by lookup mean in TensorFlow, on values in their natural forms."""

import tensorflow

from netdyno_worker.adapters.tensorflow.forms import axis_in, laid, natural, order_of, restored

tf = getattr(tensorflow.compat, "v1", tensorflow)  # the interface that versions 1 and 2 share


def widened(value):
    """In float32 at least."""
    return tf.cast(value, tf.float32) if value.dtype.is_floating and value.dtype != tf.float64 else value


def alike(values):
    """In float32 where they were rounded differently."""
    return values if len({value.dtype for value in values}) == 1 else [widened(value) for value in values]


def _reshape(node, have, x):
    """In the graph's order, where channels come before rows."""
    return laid(tf.reshape(restored(x, have.form, tf), node.shape), natural(node.shape, node.kind), tf)


def _transpose(node, have, x):
    """From one order in memory to the other at once: version 1.9 drops one of two that undo each other."""
    axes = node.attributes["axes"]
    order = [axis_in(have.kind, axes[axis]) for axis in order_of(node.kind, len(axes))]
    return x if order == sorted(order) else tf.transpose(x, order)


def _slice(node, have, x):
    axis = axis_in(have.kind, node.attributes["axis"])
    window = (slice(None),) * axis + (slice(node.attributes["start"], node.attributes["stop"]),)
    return x[window]


def _concat(node, have, *values):
    return tf.concat(alike(values), axis_in(have.kind, node.attributes.get("axis", 1)))


def _reduced(function):
    """Without axes of length 1 the others are in the graph's order, because the value is no image any more."""

    def rule(node, have, x):
        if not node.attributes["keep"]:
            found = function(restored(widened(x), have.form, tf), list(node.attributes["axes"]))
        else:
            # Version 1.9 and 2 call the argument that keeps axes differently, and both take it in this place.
            found = function(widened(x), [axis_in(have.kind, axis) for axis in node.attributes["axes"]], True)
        return tf.cast(found, x.dtype)

    return rule


def _softmax(node, have, x):
    return tf.cast(tf.nn.softmax(widened(x), axis_in(have.kind, node.attributes["axis"])), x.dtype)


# By op; each is given the node, the Natural of its first input, and its inputs.
ARRAYS = {
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "concat": _concat,
    "reduce_sum": _reduced(tf.reduce_sum),
    "reduce_mean": _reduced(tf.reduce_mean),
    "reduce_max": _reduced(tf.reduce_max),
    "softmax": _softmax,
    "gather": lambda node, have, table, indices: tf.gather(table, indices),
}
