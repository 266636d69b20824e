"""DenseNet (Huang et al. 2017, arXiv:1608.06993): every layer sees the maps of all layers before it."""


def densenet(net, images):
    """L = 40, k = 12 for 32×32 images (table 2: 1.0 M parameters): three blocks of plain 3×3 layers."""
    x = net.convolution(images, 16, 3, pad=1, bias=False)
    return _blocks(net, x, (12, 12, 12), growth=12, bottleneck=False, compression=1.0)


def densenet_bc(net, images):
    """DenseNet-BC, L = 100, k = 12 for 32×32 images (table 2: 0.8 M parameters)."""
    x = net.convolution(images, 24, 3, pad=1, bias=False)
    return _blocks(net, x, (16, 16, 16), growth=12, bottleneck=True, compression=0.5)


def densenet121(net, images):
    """DenseNet-BC of table 1 for 224×224 images; 7,978,856 parameters with 1000 classes."""
    x = net.convolution(images, 64, 7, stride=2, pad=3, bias=False)
    x = net.max_pool(net.relu(net.batch_norm(x)), 3, 2, pad=1)
    return _blocks(net, x, (6, 12, 24, 16), growth=32, bottleneck=True, compression=0.5)


def _blocks(net, x, blocks, *, growth, bottleneck, compression):
    """Dense blocks of so many layers each; between two of them the maps become fewer and half as large."""
    for number, layers in enumerate(blocks, start=1):
        for layer in range(1, layers + 1):
            with net.scope(f"block{number}.layer{layer}"):
                x = net.concat(x, _layer(net, x, growth, bottleneck))
        if number < len(blocks):
            with net.scope(f"transition{number}"):
                x = _activated_convolution(net, x, int(x.shape[1] * compression), 1)
                x = net.mean_pool(x, 2, 2)
    return net.classifier(net.global_mean_pool(net.relu(net.batch_norm(x))))


def _layer(net, x, growth, bottleneck):
    if bottleneck:
        x = _activated_convolution(net, x, 4 * growth, 1)
    return _activated_convolution(net, x, growth, 3)


def _activated_convolution(net, x, channels, kernel):
    """Batch norm and relu come before the convolution."""
    return net.convolution(net.relu(net.batch_norm(x)), channels, kernel, pad=kernel // 2, bias=False)
