"""ResNets (He et al. 2015, table 1), the stride of a bottleneck in its 3×3 convolution, and one for 32×32 images."""

from collections.abc import Callable

from netdyno.zoo.builder import Net, Value
from netdyno.zoo.initial_limits import he

# (net, x, channels, stride) -> what the block adds up to.
Block = Callable[[Net, Value, int, int], Value]

# How many blocks of 64, 128, 256 and 512 channels, of which a bottleneck's output has four times as many.
BLOCKS18 = (2, 2, 2, 2)
BLOCKS34 = BLOCKS50 = (3, 4, 6, 3)
BLOCKS152 = (3, 8, 36, 3)

# Where the scale of a block's last batch norm starts. Goyal et al. 2017 start at 0, so that a block is the identity
# at first and a large learning rate is safe; a small number does the same and leaves no gradient at 0.
BRANCH_SCALE = 0.2


def resnet18(net: Net, images: Value) -> Value:
    return _stages(net, _large_stem(net, images), _plain, BLOCKS18)


def resnet34(net: Net, images: Value) -> Value:
    return _stages(net, _large_stem(net, images), _plain, BLOCKS34)


def resnet50(net: Net, images: Value) -> Value:
    return _stages(net, _large_stem(net, images), _bottleneck, BLOCKS50)


def resnet152(net: Net, images: Value) -> Value:
    return _stages(net, _large_stem(net, images), _bottleneck, BLOCKS152)


def resnet50_cifar10(net: Net, images: Value) -> Value:
    """A 3×3 stem that keeps the image's size, and no pool after it."""
    return _stages(net, net.relu(_normalised(net, images, 64, 3)), _bottleneck, BLOCKS50)


def _large_stem(net: Net, images: Value) -> Value:
    x = _normalised(net, images, 64, 7, stride=2)
    return net.max_pool(net.relu(x), 3, 2, pad=1)


def _stages(net: Net, x: Value, block: Block, counts: tuple[int, ...]) -> Value:
    for stage, count in enumerate(counts, start=1):
        for number in range(1, count + 1):
            with net.scope(f"stage{stage}.block{number}"):
                x = block(net, x, 32 * 2**stage, 2 if number == 1 and stage > 1 else 1)
    return net.classifier(net.global_mean_pool(x), name="fc")


def _plain(net: Net, x: Value, channels: int, stride: int) -> Value:
    """Two 3×3, added to the input or its projection."""
    y = net.relu(_normalised(net, x, channels, 3, stride=stride))
    y = _normalised(net, y, channels, 3, scale=BRANCH_SCALE)
    return _added(net, x, y, stride)


def _bottleneck(net: Net, x: Value, channels: int, stride: int) -> Value:
    """1×1 down, 3×3, 1×1 up, added to the input or its projection."""
    y = net.relu(_normalised(net, x, channels, 1))
    y = net.relu(_normalised(net, y, channels, 3, stride=stride))
    y = _normalised(net, y, 4 * channels, 1, scale=BRANCH_SCALE)
    return _added(net, x, y, stride)


def _added(net: Net, x: Value, y: Value, stride: int) -> Value:
    """The branch `y` and its input, which is projected where shapes differ."""
    if x.shape != y.shape:
        with net.scope("projection"):
            x = _normalised(net, x, y.shape[1], 1, stride=stride)
    return net.relu(net.add(y, x))


def _normalised(net: Net, x: Value, channels: int, kernel: int, *, stride: int = 1, scale: float = 1.0) -> Value:
    x = net.convolution(x, channels, kernel, stride=stride, pad=kernel // 2, bias=False, initial=he)
    return net.batch_norm(x, scale=scale)
