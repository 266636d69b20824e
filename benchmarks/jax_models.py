"""Networks of other families as one would write them by hand in jax.numpy, for bare_jax.py.

`Make` gives parameters by name in a nested dictionary; a loss takes them, the batch, a key and a Precision.
"""

from functools import partial
from math import sqrt

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Precision:
    """In which type products are computed, and how exactly."""

    def __init__(self, name) -> None:
        self.type = jnp.bfloat16 if name == "bfloat16" else jnp.float32
        self.dot = partial(jnp.dot, precision=lax.Precision.DEFAULT if name == "tf32" else lax.Precision.HIGHEST)

    def linear(self, p, x):
        return self.dot(x.astype(self.type), p["w"].astype(self.type)) + p["b"].astype(self.type)


class Make:
    def __init__(self) -> None:
        self._draw = np.random.RandomState(0)

    def matrix(self, *shape, deviation=0.02):
        return jnp.array(self._draw.normal(0.0, deviation, shape), jnp.float32)

    def linear(self, before, after):
        return {"w": self.matrix(before, after, deviation=1 / sqrt(before)), "b": jnp.zeros(after)}

    def norm(self, width):
        return {"scale": jnp.ones(width), "shift": jnp.zeros(width)}

    def layer(self, width):
        inner = {"every": self.linear(width, 3 * width), "out": self.linear(width, width)}
        outer = {"in": self.linear(width, 4 * width), "back": self.linear(4 * width, width)}
        return {**inner, **outer, "norm1": self.norm(width), "norm2": self.norm(width)}


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits.astype(jnp.float32)), labels[:, None], 1)
    return -jnp.mean(chosen)


# LSTM


def lstm(make, words=10_000, hidden=256, steps=32):
    def layer():
        bias = {"b": jnp.zeros(4 * hidden), "also_b": jnp.zeros(4 * hidden)}
        return {"w": make.matrix(hidden, 4 * hidden), "u": make.matrix(hidden, 4 * hidden), **bias}

    layers = [layer(), layer()]
    return {"table": make.matrix(words, hidden), "layers": layers, "words": make.linear(hidden, words)}


def lstm_loss(p, batch, key, at):
    """Over steps first, which is what a scan takes."""
    read, said = batch
    x = p["table"][read.T].astype(at.type)
    for layer in p["layers"]:
        x = lstm_layer(layer, x, at)
    return cross_entropy(at.linear(p["words"], x.reshape(-1, x.shape[2])), said.T.reshape(-1))


def lstm_layer(p, x, at):
    given = at.linear({"w": p["w"], "b": p["b"] + p["also_b"]}, x)
    turn = p["u"].astype(at.type)

    def step(state, now):
        hidden, memory = state
        take, forget, new, show = jnp.split(now + at.dot(hidden, turn), 4, 1)
        memory = jax.nn.sigmoid(forget) * memory + jax.nn.sigmoid(take) * jnp.tanh(new)
        hidden = jax.nn.sigmoid(show) * jnp.tanh(memory)
        return (hidden, memory), hidden

    zeros = jnp.zeros((x.shape[1], turn.shape[0]), at.type)
    return lax.scan(step, (zeros, zeros), given)[1]


# Transformers


def attended(p, x, heads, at, causal):
    rows, steps, width = x.shape
    query, key, value = (part.reshape(rows, steps, heads, -1) for part in jnp.split(at.linear(p["every"], x), 3, 2))
    seen = jax.nn.dot_product_attention(query, key, value, is_causal=causal)
    return at.linear(p["out"], seen.reshape(rows, steps, width))


def norm(p, x, epsilon):
    wide = x.astype(jnp.float32)
    centred = wide - jnp.mean(wide, -1, keepdims=True)
    variance = jnp.mean(jnp.square(centred), -1, keepdims=True)
    return centred * lax.rsqrt(variance + epsilon) * p["scale"] + p["shift"]


def transformed(p, x, heads, at, causal=False, epsilon=1e-5):
    """With a GELU's tanh form where it is causal, as in GPT-2."""
    x = x + attended(p, norm(p["norm1"], x, epsilon), heads, at, causal)
    inner = jax.nn.gelu(at.linear(p["in"], norm(p["norm2"], x, epsilon)), approximate=causal)
    return x + at.linear(p["back"], inner)


def gpt2(make, words=50_257, steps=1024, context=1024, layers=12, width=768, heads=12):
    tables = {"words": make.matrix(words, width), "positions": make.matrix(context, width)}
    return {**tables, "layers": [make.layer(width) for _ in range(layers)], "norm": make.norm(width)}


def gpt2_loss(p, batch, key, at, heads=12, **_):
    read, said = batch
    x = p["words"][read] + p["positions"][: read.shape[1]]
    for layer in p["layers"]:
        x = transformed(layer, x, heads, at, causal=True)
    x = norm(p["norm"], x, 1e-5).reshape(-1, x.shape[2]).astype(at.type)
    return cross_entropy(at.dot(x, p["words"].T.astype(at.type)), said.reshape(-1))


def vit(make, layers=12, width=768, heads=12):
    every = [make.layer(width) for _ in range(layers)]
    places = {"token": jnp.zeros((1, 1, width)), "positions": make.matrix(1, 197, width)}
    ends = {"patches": make.linear(16 * 16 * 3, width), "norm": make.norm(width), "head": make.linear(width, 1000)}
    return {**places, **ends, "layers": every}


def vit_loss(p, batch, key, at, heads=12, **_):
    images, labels = batch
    rows, width = images.shape[0], p["token"].shape[2]
    parts = images.reshape(rows, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(rows, 196, -1)
    x = at.linear(p["patches"], parts)
    x = jnp.concatenate((jnp.broadcast_to(p["token"], (rows, 1, width)), x), 1) + p["positions"]
    for layer in p["layers"]:
        x = transformed(layer, x, heads, at, epsilon=1e-6)
    return cross_entropy(at.linear(p["head"], norm(p["norm"], x[:, 0], 1e-6)), labels)


# Variational auto-encoder


def vae(make, hidden=400, code=20):
    sizes = {"encoder": (784, hidden), "mean": (hidden, code), "log_variance": (hidden, code)}
    sizes.update(decoder=(code, hidden), again=(hidden, 784))
    return {name: make.linear(*shape) for name, shape in sizes.items()}


def vae_loss(p, batch, key, at):
    (pixels,) = batch
    x = jax.nn.relu(at.linear(p["encoder"], pixels))
    mean, log_variance = (at.linear(p[name], x).astype(jnp.float32) for name in ("mean", "log_variance"))
    drawn = mean + jnp.exp(0.5 * log_variance) * jax.random.normal(key, mean.shape)
    again = at.linear(p["again"], jax.nn.relu(at.linear(p["decoder"], drawn))).astype(jnp.float32)
    reconstruction = jnp.sum(jax.nn.softplus(again) - again * pixels)
    divergence = -0.5 * jnp.sum(1 + log_variance - jnp.square(mean) - jnp.exp(log_variance))
    return (reconstruction + divergence) / pixels.shape[0]


# Restricted Boltzmann machine: its gradient is written, not derived; what is watched is the error of what it makes


def rbm(make, hidden=500):
    return {"w": make.matrix(784, hidden, deviation=0.01), "b": jnp.zeros(hidden), "visible": jnp.zeros(784)}


def rbm_gradients(p, batch, key, at):
    (data,) = batch
    hidden = jax.nn.sigmoid(at.linear(p, data)).astype(jnp.float32)
    drawn = jax.random.bernoulli(key, hidden).astype(at.type)
    made = jax.nn.sigmoid(at.dot(drawn, p["w"].T.astype(at.type)) + p["visible"])
    again = jax.nn.sigmoid(at.linear(p, made)).astype(jnp.float32)
    of_weight = at.dot(made.T.astype(at.type), again.astype(at.type)) - at.dot(
        data.T.astype(at.type), hidden.astype(at.type)
    )
    rows = data.shape[0]
    error = jnp.sum(jnp.square(data - made))
    return error, {"w": of_weight / rows, "b": jnp.mean(again - hidden, 0), "visible": jnp.mean(made - data, 0)}
