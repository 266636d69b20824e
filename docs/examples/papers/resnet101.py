"""ResNet-101 (He et al. 2015, arXiv:1512.03385, table 1), the stride in the 3×3 convolution; 44,549,160 parameters.

Weights start where the builder starts them by default, and the scale of every batch norm at 1: the deep network that
makes most of each rounding error.
"""

# One row per stage: how many bottleneck blocks, and their inner channels; the output has four times as many.
STAGES = ((3, 64), (4, 128), (23, 256), (3, 512))


def resnet101(net, images):
    x = net.max_pool(net.relu(_normalised(net, images, 64, 7, stride=2)), 3, 2, pad=1)
    for stage, (blocks, channels) in enumerate(STAGES, start=1):
        for block in range(1, blocks + 1):
            with net.scope(f"stage{stage}.block{block}"):
                x = _bottleneck(net, x, channels, stride=2 if block == 1 and stage > 1 else 1)
    return net.classifier(net.global_mean_pool(x))


def _bottleneck(net, x, channels, *, stride):
    y = net.relu(_normalised(net, x, channels, 1))
    y = net.relu(_normalised(net, y, channels, 3, stride=stride))
    y = _normalised(net, y, 4 * channels, 1)
    if x.shape != y.shape:
        x = _normalised(net, x, 4 * channels, 1, stride=stride)
    return net.relu(net.add(y, x))


def _normalised(net, x, channels, kernel, *, stride=1):
    x = net.convolution(x, channels, kernel, stride=stride, pad=kernel // 2, bias=False)
    return net.batch_norm(x)
