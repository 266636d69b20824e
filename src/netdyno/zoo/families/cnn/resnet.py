"""ResNet-50 (He et al. 2015, table 1) with the stride in the 3×3 convolution, and its form for 32×32 images."""

from netdyno.zoo.builder import Net, Value
from netdyno.zoo.initial_limits import he

# One row per stage: how many bottleneck blocks, and their inner channels; the output has four times as many.
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))

# Where the scale of a block's last batch norm starts. Goyal et al. 2017 start at 0, so that a block is the identity
# at first and a large learning rate is safe; a small number does the same and leaves no gradient at 0.
BRANCH_SCALE = 0.2


def resnet50(net: Net, images: Value) -> Value:
    x = _normalised(net, images, 64, 7, stride=2)
    x = net.max_pool(net.relu(x), 3, 2, pad=1)
    return _stages(net, x)


def resnet50_cifar10(net: Net, images: Value) -> Value:
    """A 3×3 stem that keeps the image's size, and no pool after it."""
    return _stages(net, net.relu(_normalised(net, images, 64, 3)))


def _stages(net: Net, x: Value) -> Value:
    for stage, (blocks, channels) in enumerate(STAGES, start=1):
        for block in range(1, blocks + 1):
            with net.scope(f"stage{stage}.block{block}"):
                x = _bottleneck(net, x, channels, stride=2 if block == 1 and stage > 1 else 1)
    return net.classifier(net.global_mean_pool(x), name="fc")


def _bottleneck(net: Net, x: Value, channels: int, *, stride: int) -> Value:
    """1×1 down, 3×3, 1×1 up, added to the input or, where shapes change, to its projection."""
    y = net.relu(_normalised(net, x, channels, 1))
    y = net.relu(_normalised(net, y, channels, 3, stride=stride))
    y = _normalised(net, y, 4 * channels, 1, scale=BRANCH_SCALE)
    if x.shape != y.shape:
        with net.scope("projection"):
            x = _normalised(net, x, 4 * channels, 1, stride=stride)
    return net.relu(net.add(y, x))


def _normalised(net: Net, x: Value, channels: int, kernel: int, *, stride: int = 1, scale: float = 1.0) -> Value:
    x = net.convolution(x, channels, kernel, stride=stride, pad=kernel // 2, bias=False, initial=he)
    return net.batch_norm(x, scale=scale)
