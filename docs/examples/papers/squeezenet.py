"""SqueezeNet 1.0 (Iandola et al. 2016, arXiv:1602.07360, table 1): no batch norm, no linear layer; 1,248,424
parameters. For 224×224 images."""

# Of each fire module: channels of the squeeze, and of each of its two expansions; None is a pool.
LAYERS = ((16, 64), (16, 64), (32, 128), None, (32, 128), (48, 192), (48, 192), (64, 256), None, (64, 256))


def squeezenet(net, images):
    x = _pool(net, net.relu(net.convolution(images, 96, 7, stride=2)))
    for layer in LAYERS:
        x = _fire(net, x, *layer) if layer else _pool(net, x)
    x = net.relu(net.convolution(net.dropout(x, 0.5), net.classes, 1))
    return net.global_mean_pool(x)


def _fire(net, x, squeeze, expand):
    x = net.relu(net.convolution(x, squeeze, 1))
    one = net.relu(net.convolution(x, expand, 1))
    three = net.relu(net.convolution(x, expand, 3, pad=1))
    return net.concat(one, three)


def _pool(net, x):
    return net.max_pool(x, 3, 2, ceil=True)
