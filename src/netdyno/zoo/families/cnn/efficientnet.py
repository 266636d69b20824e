"""EfficientNet-B0 (Tan and Le 2019, table 1): narrow at both ends of a block, with a gate on the channels inside."""

from netdyno.zoo.builder import Net, Value
from netdyno.zoo.initial_limits import he

# One row per stage: how much wider a block is inside, kernel, channels of its output, blocks, stride of the first.
STAGES = (
    (1, 3, 16, 1, 1),
    (6, 3, 24, 2, 2),
    (6, 5, 40, 2, 2),
    (6, 3, 80, 3, 2),
    (6, 5, 112, 3, 1),
    (6, 5, 192, 4, 2),
    (6, 3, 320, 1, 1),
)
GATE = 4  # the channels that a block reads, over those that its gate has inside


def efficientnet_b0(net: Net, images: Value) -> Value:
    """Every block is kept in every step: the authors leave some out at random."""
    x = net.silu(_normalised(net, images, 32, 3, stride=2))
    for stage, (wider, kernel, channels, blocks, stride) in enumerate(STAGES, start=1):
        for block in range(1, blocks + 1):
            with net.scope(f"stage{stage}.block{block}"):
                x = _block(net, x, channels, (wider, kernel), stride=stride if block == 1 else 1)
    x = net.global_mean_pool(net.silu(_normalised(net, x, 1280, 1)))
    return net.classifier(net.dropout(x, 0.2), name="fc")


def _block(net: Net, x: Value, channels: int, form: tuple[int, int], *, stride: int) -> Value:
    """Widen, filter each channel alone, weigh the channels, and narrow without an activation."""
    wider, kernel = form
    inner = wider * x.shape[1]
    y = net.silu(_normalised(net, x, inner, 1)) if wider > 1 else x
    y = net.silu(_normalised(net, y, inner, kernel, stride=stride, groups=inner))
    y = _normalised(net, _weighed(net, y, x.shape[1] // GATE), channels, 1)
    return net.add(x, y) if x.shape == y.shape else y


def _weighed(net: Net, x: Value, squeezed: int) -> Value:
    """Each channel times a share that its mean over the image, and those of the others, decide."""
    y = net.silu(net.linear(net.global_mean_pool(x), squeezed, name="squeeze"))
    shares = net.sigmoid(net.linear(y, x.shape[1], name="excite"))
    return net.multiply(x, net.reshape(shares, (-1, x.shape[1], 1, 1), kind="image"))


def _normalised(net: Net, x: Value, channels: int, kernel: int, *, stride: int = 1, groups: int = 1) -> Value:
    pad = kernel // 2
    x = net.convolution(x, channels, kernel, stride=stride, pad=pad, groups=groups, bias=False, initial=he)
    return net.batch_norm(x)
