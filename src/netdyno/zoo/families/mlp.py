"""Fully connected networks: those of DLBENCH (Shi et al. 2016), sigmoid layers trained by plain SGD."""

from netdyno.graph.model import Optimizer
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import MLP, Entry
from netdyno.zoo.items import VECTORS512, VECTORS26752


def fcn5(net: Net, vectors: Value, *, hidden: int = 2048) -> Value:
    """Five layers of units: input, three of `hidden` units, output."""
    return _fully_connected(net, vectors, layers=3, hidden=hidden)


def fcn8(net: Net, vectors: Value, *, hidden: int = 2048) -> Value:
    """Eight layers of units: input, six of `hidden` units, output."""
    return _fully_connected(net, vectors, layers=6, hidden=hidden)


def _fully_connected(net: Net, x: Value, *, layers: int, hidden: int) -> Value:
    for number in range(1, layers + 1):
        x = net.sigmoid(net.linear(x, hidden, name=f"fc{number}"))
    logits = net.classifier(x, name=f"fc{layers + 1}")
    loss = net.softmax_cross_entropy(logits, net.labels, name="loss")
    net.update(loss, optimizer=Optimizer(kind="sgd", learning_rate=net.learning_rate))
    return logits


# No counts are published for these: with w = 2048 and h hidden layers, an input of n and c classes there are
# nw + (h - 1)w² + wc MACs, and hw + c biases beside as many weights.
_COUNTED = "counted by hand from the layers"
_DLBENCH = "Shi et al. 2016, Benchmarking state-of-the-art deep learning software tools; hclhkbu/dlbench, "

ENTRIES = (
    Entry(
        network="fcn5",
        family=MLP,
        items=VECTORS26752,
        build=fcn5,
        source=_DLBENCH + "synthetic/experiments/caffe/fc/ffn26752.prototxt",
        parameters=117_997_696,
        macs=117_964_800,
        batch=64,
        learning_rate=0.01,
        proof_items=VECTORS26752.of_width(256),
        note=_COUNTED,
    ),
    Entry(
        network="fcn8",
        family=MLP,
        items=VECTORS26752,
        build=fcn8,
        source=_DLBENCH + "synthetic/experiments/caffe/fc/ffn26752l6.prototxt",
        parameters=130_586_752,
        macs=130_547_712,
        batch=64,
        learning_rate=0.01,
        proof_items=VECTORS26752.of_width(256),
        note=_COUNTED,
    ),
    Entry(
        network="fcn5-small",
        family=MLP,
        items=VECTORS512,
        build=fcn5,
        source=_DLBENCH + "synthetic/experiments/caffe/fc/ffn.prototxt",
        parameters=11_492_328,
        macs=11_485_184,
        batch=64,
        learning_rate=0.01,
        note=_COUNTED,
    ),
)
