"""Recurrent networks: those of DLBENCH (Shi et al. 2016), which say the next word of a text after each word."""

from collections.abc import Callable
from functools import partial
from typing import Any

from netdyno.graph.model import Optimizer, uniform_within
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import RECURRENT, Entry
from netdyno.zoo.items import TEXT

Layer = Callable[[Value, int], Value]

LAYERS = 2
SPAN = uniform_within(0.1)  # where embeddings start


def rnn(net: Net, *, words: int = 10_000, hidden: int = 256, steps: int = 32) -> Value:
    """Two layers with tanh."""
    return _next_words(net, net.rnn, words=words, hidden=hidden, steps=steps)


def lstm(net: Net, *, words: int = 10_000, hidden: int = 256, steps: int = 32) -> Value:
    """Two layers of long short-term memory (Hochreiter and Schmidhuber 1997)."""
    return _next_words(net, net.lstm, words=words, hidden=hidden, steps=steps)


def gru(net: Net, *, words: int = 10_000, hidden: int = 256, steps: int = 32) -> Value:
    """Two layers of gated recurrent units (Cho et al. 2014)."""
    return _next_words(net, net.gru, words=words, hidden=hidden, steps=steps)


def _next_words(net: Net, layer: Layer, *, words: int, hidden: int, steps: int) -> Value:
    """One row is `steps` words and the one after: all but the last are read, all but the first are said."""
    read, said = net.text(steps, words)
    table = net.parameter("embedding.weight", (words, hidden), SPAN)
    x = net.gather(table, read, name="embedding")
    for _ in range(LAYERS):
        x = layer(x, hidden)
    logits = net.linear(net.reshape(x, (-1, hidden)), words, name="words")
    loss = net.softmax_cross_entropy(logits, said, name="loss")
    net.update(loss, optimizer=Optimizer(kind="adam", learning_rate=net.learning_rate))
    return logits


def _parameters(gates: int) -> int:
    """With 10,000 words and 256 units: a table, two layers with two products and two biases, and a linear layer."""
    return 10_000 * 256 + LAYERS * gates * (2 * 256 * 256 + 2 * 256) + 10_000 * 257


def _macs(gates: int, steps: int) -> int:
    return steps * (LAYERS * gates * 2 * 256 * 256 + 256 * 10_000)


_entry: Callable[..., Any] = partial(
    Entry,
    family=RECURRENT,
    items=TEXT,
    source="Shi et al. 2016, Benchmarking state-of-the-art deep learning software tools: two layers of 256",
    batch=128,
    learning_rate=0.001,
    units="steps",
    proof_options={"words": 60, "hidden": 12, "steps": 5},
    note="Adam in place of SGD, so that they learn within minutes; counted by hand from the layers",
)

ENTRIES: tuple[Entry, ...] = (
    _entry(network="rnn", build=rnn, parameters=_parameters(1), macs=_macs(1, 32)),
    _entry(network="lstm", build=lstm, parameters=_parameters(4), macs=_macs(4, 32)),
    _entry(network="gru", build=gru, parameters=_parameters(3), macs=_macs(3, 32)),
)
