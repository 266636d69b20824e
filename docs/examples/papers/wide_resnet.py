"""Wide ResNets (Zagoruyko and Komodakis 2016, arXiv:1605.07146, tables 1 and 4) for 32×32 images."""


def wide_resnet_16_4(net, images):
    """16 layers, four times as wide as a ResNet (2.7 M parameters)."""
    return _wide_resnet(net, images, blocks=2, wider=4)


def wide_resnet_28_10(net, images):
    """28 layers, ten times as wide (36.5 M parameters)."""
    return _wide_resnet(net, images, blocks=4, wider=10)


def _wide_resnet(net, images, *, blocks, wider):
    x = _convolution(net, images, 16, 3)
    for group, channels in enumerate((16, 32, 64), start=1):
        for block in range(1, blocks + 1):
            with net.scope(f"group{group}.block{block}"):
                x = _block(net, x, wider * channels, stride=2 if block == 1 and group > 1 else 1)
    return net.classifier(net.global_mean_pool(net.relu(net.batch_norm(x))))


def _block(net, x, channels, *, stride):
    """Batch norm and relu come before each convolution; a projection sees them too."""
    first = net.relu(net.batch_norm(x))
    y = _convolution(net, first, channels, 3, stride=stride)
    y = _convolution(net, net.dropout(net.relu(net.batch_norm(y)), 0.3), channels, 3)
    if x.shape != y.shape:
        x = _convolution(net, first, channels, 1, stride=stride)
    return net.add(x, y)


def _convolution(net, x, channels, kernel, *, stride=1):
    return net.convolution(x, channels, kernel, stride=stride, pad=kernel // 2, bias=False)
