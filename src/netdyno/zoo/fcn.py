"""The fully connected networks of DLBENCH (Shi et al. 2016): sigmoid layers of 2048 units, trained by plain SGD."""

from netdyno.graph.model import Optimizer
from netdyno.zoo.builder import Net, Value

WIDTH = 2048


def fcn5(net: Net, vectors: Value) -> Value:
    """Five layers of units: input, three hidden, output."""
    return _fully_connected(net, vectors, hidden=3)


def fcn8(net: Net, vectors: Value) -> Value:
    return _fully_connected(net, vectors, hidden=6)


def _fully_connected(net: Net, vectors: Value, *, hidden: int) -> Value:
    x = net.flatten(vectors)
    for number in range(1, hidden + 1):
        x = net.sigmoid(net.linear(x, WIDTH, name=f"fc{number}"))
    logits = net.classifier(x, name=f"fc{hidden + 1}")
    loss = net.softmax_cross_entropy(logits, net.labels, name="loss")
    net.update(loss, optimizer=Optimizer(kind="sgd", learning_rate=net.learning_rate))
    return logits
