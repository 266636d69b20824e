"""MobileNetV2 (Sandler et al. 2018, arXiv:1801.04381, table 2), and its form for 32×32 images."""

# One row per stage: how much wider a block is inside, channels of its output, how many blocks, stride of the first.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2(net, images):
    """For 224×224 images; 3,504,872 parameters with 1000 classes."""
    return _layers(net, images, unstrided=())


def mobilenet_v2_cifar10(net, images):
    """The first convolution and the second stage keep the image's size; 2,236,682 parameters with 10 classes."""
    return _layers(net, images, unstrided=(0, 2))


def _layers(net, images, *, unstrided):
    """`unstrided`: the stages that keep the size of their maps; the first convolution is stage 0."""
    x = net.relu6(_normalised(net, images, 32, 3, stride=1 if 0 in unstrided else 2))
    for stage, (wider, channels, blocks, stride) in enumerate(STAGES, start=1):
        for block in range(1, blocks + 1):
            with net.scope(f"stage{stage}.block{block}"):
                strided = block == 1 and stage not in unstrided
                x = _inverted_residual(net, x, channels, wider, stride=stride if strided else 1)
    x = net.relu6(_normalised(net, x, 1280, 1))
    return net.classifier(net.dropout(net.global_mean_pool(x), 0.2))


def _inverted_residual(net, x, channels, wider, *, stride):
    """Widen, filter each channel alone, and narrow without an activation: the bottleneck is linear."""
    inner = wider * x.shape[1]
    y = net.relu6(_normalised(net, x, inner, 1)) if wider > 1 else x
    y = net.relu6(_normalised(net, y, inner, 3, stride=stride, groups=inner))
    y = _normalised(net, y, channels, 1)
    return net.add(x, y) if x.shape == y.shape else y


def _normalised(net, x, channels, kernel, *, stride=1, groups=1):
    x = net.convolution(x, channels, kernel, stride=stride, pad=kernel // 2, groups=groups, bias=False)
    return net.batch_norm(x)
