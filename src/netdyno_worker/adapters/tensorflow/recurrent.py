"""Recurrent layers in TensorFlow: the input's part of all steps in one product, then step after step.

Unrolled, and taken apart by `unstack` and `split`, whose gradients put the parts together again; that of a slice
fills a tensor of the whole size with zeros.
"""

import tensorflow

from netdyno_worker.adapters.tensorflow.arrays import widened

tf = getattr(tensorflow.compat, "v1", tensorflow)  # the interface that versions 1 and 2 share


def layer(op, linear, x, weights):
    """Every hidden state of (batch, steps, features), from zeros; `linear` multiplies with an (out, in) matrix and
    adds a bias."""
    to_input, to_hidden, input_bias, hidden_bias = weights
    batch, steps, features = (int(size) for size in x.shape)
    own_bias = hidden_bias if op == "gru" else None
    given = linear(tf.reshape(x, [-1, features]), to_input, input_bias if op == "gru" else input_bias + hidden_bias)
    states, hidden = (), []
    for now in tf.unstack(tf.reshape(widened(given), [batch, steps, -1]), axis=1):
        before = widened(linear(states[0], to_hidden, own_bias)) if states else own_bias
        states = CELLS[op](states, now, before)
        hidden.append(states[0])
    return tf.cast(tf.stack(hidden, 1), given.dtype)


def _rnn(states, given, before):
    return (tf.tanh(given + before if states else given),)


def _lstm(states, given, before):
    take, forget, new, show = tf.split(given + before if states else given, 4, 1)
    memory = tf.sigmoid(take) * tf.tanh(new)
    if states:
        memory = tf.sigmoid(forget) * states[1] + memory
    return tf.sigmoid(show) * tf.tanh(memory), memory


def _gru(states, given, before):
    reset, update, new = tf.split(given, 3, 1)
    also_reset, also_update, kept = tf.split(before, 3, -1)
    candidate = tf.tanh(new + tf.sigmoid(reset + also_reset) * kept)
    share = tf.sigmoid(update + also_update)
    return (candidate + share * (states[0] - candidate) if states else candidate - share * candidate,)


# Each is given the states, what the input gives and what the hidden state before gives: the next states. In the first
# step there are no states, and a bias alone takes the place of what they give, where it is not in `given` already.
CELLS = {"rnn": _rnn, "lstm": _lstm, "gru": _gru}
