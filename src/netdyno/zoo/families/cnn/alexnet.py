"""AlexNet: as published in 2012, in its one-column form of 2014, and for 32×32 images."""

from netdyno.zoo.builder import Net, Value


def alexnet(net: Net, images: Value) -> Value:
    """Krizhevsky et al. 2012: two columns (groups), response normalisation, overlapping pools."""
    x = _convolve(net, images, 96, 11, stride=4)
    x = _normalise_and_pool(net, x)
    x = _convolve(net, x, 256, 5, pad=2, groups=2)
    x = _normalise_and_pool(net, x)
    x = _convolve(net, x, 384, 3, pad=1)
    x = _convolve(net, x, 384, 3, pad=1, groups=2)
    x = _convolve(net, x, 256, 3, pad=1, groups=2)
    x = net.flatten(net.max_pool(x, 3, 2))
    x = net.dropout(net.relu(net.linear(x, 4096, name="fc6")))
    x = net.dropout(net.relu(net.linear(x, 4096, name="fc7")))
    return net.classifier(x, name="fc8")


def alexnet_owt(net: Net, images: Value) -> Value:
    """Krizhevsky 2014 ("one weird trick"): one column, no response normalisation."""
    x = net.max_pool(_convolve(net, images, 64, 11, stride=4, pad=2), 3, 2)
    x = net.max_pool(_convolve(net, x, 192, 5, pad=2), 3, 2)
    x = _convolve(net, x, 384, 3, pad=1)
    x = _convolve(net, x, 256, 3, pad=1)
    x = _convolve(net, x, 256, 3, pad=1)
    x = net.dropout(net.flatten(net.max_pool(x, 3, 2)))
    x = net.dropout(net.relu(net.linear(x, 4096, name="fc6")))
    x = net.relu(net.linear(x, 4096, name="fc7"))
    return net.classifier(x, name="fc8")


def alexnet_cifar10(net: Net, images: Value) -> Value:
    """The one-column form with padding for 32×32 images and a single linear layer."""
    x = net.max_pool(_convolve(net, images, 64, 11, stride=4, pad=5), 2, 2)
    x = net.max_pool(_convolve(net, x, 192, 5, pad=2), 2, 2)
    x = _convolve(net, x, 384, 3, pad=1)
    x = _convolve(net, x, 256, 3, pad=1)
    x = _convolve(net, x, 256, 3, pad=1)
    x = net.flatten(net.max_pool(x, 2, 2))
    return net.classifier(x, name="fc6")


def _convolve(
    net: Net, x: Value, channels: int, kernel: int, *, stride: int = 1, pad: int = 0, groups: int = 1
) -> Value:
    return net.relu(net.convolution(x, channels, kernel, stride=stride, pad=pad, groups=groups))


def _normalise_and_pool(net: Net, x: Value) -> Value:
    return net.max_pool(net.local_response_norm(x, size=5, alpha=1e-4, beta=0.75, k=2.0), 3, 2)
