"""Inception-v3 (Szegedy et al. 2015, Rethinking the Inception architecture, table 1), without the auxiliary head."""

from netdyno.zoo.builder import Net, Value
from netdyno.zoo.initial_limits import he
from netdyno.zoo.padding import Size, pair

PROJECTIONS = (32, 64, 64)  # channels of the pool's branch, of each module on the 35×35 map
NARROW = (128, 160, 160, 192)  # channels inside the long branches, of each module on the 17×17 map
EPSILON = 1e-3


def inception_v3(net: Net, images: Value) -> Value:
    x = _stem(net, images)
    for number, projection in enumerate(PROJECTIONS, start=1):
        with net.scope(f"square{number}"):
            x = _square(net, x, projection)
    with net.scope("reduction1"):
        x = _reduced_to_17(net, x)
    for number, narrow in enumerate(NARROW, start=1):
        with net.scope(f"factorised{number}"):
            x = _factorised(net, x, narrow)
    with net.scope("reduction2"):
        x = _reduced_to_8(net, x)
    for number in (1, 2):
        with net.scope(f"expanded{number}"):
            x = _expanded(net, x)
    return net.classifier(net.dropout(net.global_mean_pool(x)), name="fc")


def _stem(net: Net, images: Value) -> Value:
    x = _convolve(net, images, 32, 3, stride=2, same=False)
    x = _convolve(net, x, 32, 3, same=False)
    x = net.max_pool(_convolve(net, x, 64, 3), 3, 2)
    x = _convolve(net, _convolve(net, x, 80, 1), 192, 3, same=False)
    return net.max_pool(x, 3, 2)


def _square(net: Net, x: Value, projection: int) -> Value:
    """Figure 5: two 3×3 in place of a 5×5; the other 5×5 stays."""
    return net.concat(
        _chain(net, x, (64, 1)),
        _chain(net, x, (48, 1), (64, 5)),
        _chain(net, x, (64, 1), (96, 3), (96, 3)),
        _projected_pool(net, x, projection),
    )


def _factorised(net: Net, x: Value, narrow: int) -> Value:
    """Figure 6: 1×7 and 7×1 in place of 7×7."""
    twice = ((narrow, (7, 1)), (narrow, (1, 7)))
    return net.concat(
        _chain(net, x, (192, 1)),
        _chain(net, x, (narrow, 1), (narrow, (1, 7)), (192, (7, 1))),
        _chain(net, x, (narrow, 1), *twice, (narrow, (7, 1)), (192, (1, 7))),
        _projected_pool(net, x, 192),
    )


def _expanded(net: Net, x: Value) -> Value:
    """Figure 7: branches that fork to 1×3 and 3×1."""
    three, double = _chain(net, x, (384, 1)), _chain(net, x, (448, 1), (384, 3))
    forks = [_convolve(net, branch, 384, kernel) for branch in (three, double) for kernel in ((1, 3), (3, 1))]
    return net.concat(_chain(net, x, (320, 1)), *forks, _projected_pool(net, x, 192))


def _reduced_to_17(net: Net, x: Value) -> Value:
    double = _chain(net, x, (64, 1), (96, 3))
    return net.concat(_halved(net, x, 384), _halved(net, double, 96), net.max_pool(x, 3, 2))


def _reduced_to_8(net: Net, x: Value) -> Value:
    three = _chain(net, x, (192, 1))
    seven = _chain(net, x, (192, 1), (192, (1, 7)), (192, (7, 1)))
    return net.concat(_halved(net, three, 320), _halved(net, seven, 192), net.max_pool(x, 3, 2))


def _halved(net: Net, x: Value, channels: int) -> Value:
    return _convolve(net, x, channels, 3, stride=2, same=False)


def _projected_pool(net: Net, x: Value, channels: int) -> Value:
    return _chain(net, net.mean_pool(x, 3, 1, pad=1), (channels, 1))


def _chain(net: Net, x: Value, *layers: tuple[int, Size]) -> Value:
    """Convolutions of (channels, kernel) one after the other, that keep the map's size."""
    for channels, kernel in layers:
        x = _convolve(net, x, channels, kernel)
    return x


def _convolve(net: Net, x: Value, channels: int, kernel: Size, *, stride: int = 1, same: bool = True) -> Value:
    """Convolution, batch norm, relu."""
    down, across = (side // 2 if same else 0 for side in pair(kernel))
    pad = (down, down, across, across)
    x = net.convolution(x, channels, kernel, stride=stride, pad=pad, bias=False, initial=he)
    return net.relu(net.batch_norm(x, epsilon=EPSILON))
