"""Networks that are mostly one composite op, so that its share of a step is seen."""

from collections.abc import Callable

from netdyno.zoo.builder import Net, Value

LAYERS = 4


def silu(net: Net) -> Value:
    return _activated(net, net.silu)


def relu6(net: Net) -> Value:
    return _activated(net, net.relu6)


def hard_swish(net: Net) -> Value:
    return _activated(net, net.hard_swish)


def gelu(net: Net) -> Value:
    return _activated(net, net.gelu)


def layer_norm(net: Net) -> Value:
    return _activated(net, net.layer_norm)


def group_norm(net: Net) -> Value:
    x = net.images((32, 32, 32))
    for _ in range(LAYERS):
        x = net.group_norm(net.convolution(x, 32, 1), 8)
    return _trained(net, net.global_mean_pool(x))


def attention(net: Net) -> Value:
    """Four heads of 32 features over 128 places."""
    x = net.reshape(net.vectors(128 * 128), (-1, 128))
    for _ in range(LAYERS):
        query, key, value = (_heads(net, net.linear(x, 128)) for _ in range(3))
        mixed = net.transpose(net.attention(query, key, value, causal=True), (0, 2, 1, 3))
        x = net.reshape(mixed, (-1, 128))
    return _trained(net, net.reshape(x, (-1, 128 * 128)))


def rnn(net: Net) -> Value:
    return _repeated(net, net.rnn)


def lstm(net: Net) -> Value:
    return _repeated(net, net.lstm)


def gru(net: Net) -> Value:
    return _repeated(net, net.gru)


def _activated(net: Net, function: Callable[[Value], Value]) -> Value:
    """Rows of 4096 through cheap products, so that what is done to each element shows."""
    x = net.linear(net.vectors(64), 4096)
    for _ in range(LAYERS):
        x = function(net.linear(net.linear(x, 16), 4096))
    return _trained(net, x)


def _heads(net: Net, x: Value) -> Value:
    return net.transpose(net.reshape(x, (-1, 128, 4, 32)), (0, 2, 1, 3))


def _repeated(net: Net, layer: Callable[[Value, int], Value]) -> Value:
    """Two layers of 256 over 32 steps, as DLBENCH's."""
    x = net.reshape(net.vectors(32 * 256), (-1, 32, 256), kind="sequence")
    for _ in range(2):
        x = layer(x, 256)
    return _trained(net, net.reshape(x, (-1, 32 * 256)))


def _trained(net: Net, x: Value) -> Value:
    y = net.linear(x, 8, name="head")
    net.update(net.mean_squared_error(y, net.vectors(8, name="target")))
    return y
