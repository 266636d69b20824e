"""Recurrent layers in JAX: the input's part of all steps in one product, then a scan over the steps."""

import jax.numpy as jnp
from jax import lax


def layer(op, product, x, weights):
    """Every hidden state of (batch, steps, features), from zeros; `product` multiplies two matrices."""
    to_input, to_hidden, input_bias, hidden_bias = weights
    given = jnp.swapaxes(product(x, to_input.T) + input_bias, 0, 1)
    cell, turned = CELLS[op], to_hidden.T
    zeros = jnp.zeros((x.shape[0], to_hidden.shape[1]), given.dtype)

    def step(states, now):
        states = cell(states, now, product(states[0], turned) + hidden_bias)
        return states, states[0]

    _, hidden = lax.scan(step, (zeros,) * STATES[op], given)
    return jnp.swapaxes(hidden, 0, 1)


def _rnn(states, given, before):
    return (jnp.tanh(given + before),)


def _lstm(states, given, before):
    take, forget, new, show = jnp.split(given + before, 4, axis=1)
    memory = lax.logistic(forget) * states[1] + lax.logistic(take) * jnp.tanh(new)
    return lax.logistic(show) * jnp.tanh(memory), memory


def _gru(states, given, before):
    (reset, update, new), (also_reset, also_update, kept) = jnp.split(given, 3, axis=1), jnp.split(before, 3, axis=1)
    candidate = jnp.tanh(new + lax.logistic(reset + also_reset) * kept)
    return (candidate + lax.logistic(update + also_update) * (states[0] - candidate),)


# Each is given the states, what the input gives and what the hidden state before gives: the next states.
CELLS = {"rnn": _rnn, "lstm": _lstm, "gru": _gru}
STATES = {"rnn": 1, "lstm": 2, "gru": 1}
