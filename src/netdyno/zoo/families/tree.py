"""Recursive networks: one small network, with one set of weights, at every node of a tree (Socher et al. 2011).

A row of a batch is a binary tree of nested arithmetic, written from its leaves to its root: the numbers at its
leaves, each in a place of its own, then step by step which two places are joined, and how. What comes of it takes
the left place. So trees of any form, with as many leaves each, are one graph.
"""

from netdyno.errors import NetdynoError
from netdyno.graph.model import Optimizer, uniform_within
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import TREE, Entry
from netdyno.zoo.items import TREES

OPERATIONS = 4
DIGITS = 10


def recursive(net: Net, *, leaves: int = 12, hidden: int = 128) -> Value:
    """Joins two vectors to one until a vector stands for the whole tree, which is classified by its value."""
    if leaves < 2:
        raise NetdynoError(f"network 'recursive', leaves: expected 2 or more, received {leaves}.")
    digits = net.tokens(leaves, DIGITS, name="digits")
    joins = {name: net.tokens(leaves - 1, leaves, name=name) for name in ("left", "right")}
    operations = net.tokens(leaves - 1, OPERATIONS, name="operations")
    results = net.gather(net.parameter("digits.weight", (DIGITS, hidden), uniform_within(1.0)), digits)
    kinds = net.gather(net.parameter("operations.weight", (OPERATIONS, 2 * hidden), uniform_within(0.1)), operations)
    join = _Join(net, hidden)
    for step in range(leaves - 1):
        with net.scope(f"step{step}"):
            left, right = (_place(net, joins[name], step, leaves) for name in ("left", "right"))
            how = net.reshape(net.slice(kinds, 1, step, step + 1), (-1, 2 * hidden))
            joined = join(net.concat(_at(net, results, left), _at(net, results, right)), how)
            change = net.subtract(net.reshape(joined, (-1, 1, hidden), kind="sequence"), results)
            results = net.add(results, net.multiply(net.reshape(left, (-1, leaves, 1)), change))
    logits = net.classifier(joined, name="value")
    loss = net.softmax_cross_entropy(logits, net.labels, name="loss")
    net.update(loss, optimizer=Optimizer(kind="adam", learning_rate=net.learning_rate))
    return logits


class _Join:
    """Two layers, with the same weights at every node."""

    def __init__(self, net: Net, hidden: int) -> None:
        self._net = net
        self._layers = [
            (
                net.parameter(f"join.{name}.weight", (to, 2 * hidden), uniform_within((3 / hidden) ** 0.5)),
                net.parameter(f"join.{name}.bias", (to,), uniform_within(0.0)),
            )
            for name, to in (("in", 2 * hidden), ("out", hidden))
        ]

    def __call__(self, both: Value, how: Value) -> Value:
        net, (inner, outer) = self._net, self._layers
        x = net.relu(net.add(_linear(net, both, inner), how))
        return net.tanh(_linear(net, x, outer))


def _linear(net: Net, x: Value, learnt: tuple[Value, Value]) -> Value:
    weight, bias = learnt
    return net.linear(x, weight.shape[0], weight=weight, bias=bias)


def _place(net: Net, places: Value, step: int, leaves: int) -> Value:
    """Of each row in this step, as a 1 among so many."""
    place = net.reshape(net.slice(places, 1, step, step + 1), (-1, 1))
    return net.one_hot(place, leaves)


def _at(net: Net, results: Value, place: Value) -> Value:
    """What is at a place."""
    return net.reshape(net.matmul(place, results), (-1, results.shape[2]))


def _macs(leaves: int, hidden: int) -> int:
    """Picking twice and joining at each step, then the classes."""
    return (leaves - 1) * (2 * leaves * hidden + 6 * hidden**2) + 10 * hidden


ENTRIES = (
    Entry(
        network="recursive",
        family=TREE,
        items=TREES,
        build=recursive,
        source="Socher et al. 2011, Parsing natural scenes and natural language with recursive neural networks; two "
        "layers at a node, and numbers in place of words",
        parameters=10 * 128 + 4 * 256 + (256 * 256 + 256) + (128 * 256 + 128) + 10 * 129,
        macs=_macs(12, 128),
        batch=64,
        learning_rate=0.001,
        steps=1000,
        proof_options={"hidden": 12},
        note="counted by hand from the layers",
    ),
)
