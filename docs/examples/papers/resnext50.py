"""ResNeXt-50 (32×4d) (Xie et al. 2017, arXiv:1611.05431, table 1): 32 groups in each 3×3 convolution; 25,028,904
parameters."""

GROUPS = 32
# One row per stage: how many blocks, and their inner channels; the output has twice as many.
STAGES = ((3, 128), (4, 256), (6, 512), (3, 1024))


def resnext50(net, images):
    x = net.max_pool(net.relu(_normalised(net, images, 64, 7, stride=2)), 3, 2, pad=1)
    for stage, (blocks, channels) in enumerate(STAGES, start=1):
        for block in range(1, blocks + 1):
            with net.scope(f"stage{stage}.block{block}"):
                x = _block(net, x, channels, stride=2 if block == 1 and stage > 1 else 1)
    return net.classifier(net.global_mean_pool(x))


def _block(net, x, channels, *, stride):
    y = net.relu(_normalised(net, x, channels, 1))
    y = net.relu(_normalised(net, y, channels, 3, stride=stride, groups=GROUPS))
    y = _normalised(net, y, 2 * channels, 1)
    if x.shape != y.shape:
        x = _normalised(net, x, 2 * channels, 1, stride=stride)
    return net.relu(net.add(y, x))


def _normalised(net, x, channels, kernel, *, stride=1, groups=1):
    x = net.convolution(x, channels, kernel, stride=stride, pad=kernel // 2, groups=groups, bias=False)
    return net.batch_norm(x)
