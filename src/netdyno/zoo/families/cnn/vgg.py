"""VGG16: configuration D of Simonyan and Zisserman 2014, and its form for 32×32 images."""

from netdyno.zoo.builder import Net, Value
from netdyno.zoo.initial_limits import glorot, he

# One row per stage: how many 3×3 convolutions, of how many channels; a 2×2 max pool ends each.
CONFIGURATION_D = ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512))


def vgg16(net: Net, images: Value) -> Value:
    """Without batch normalisation, as published."""
    return _classify(net, _features(net, images, normalise=False), width=4096)


def vgg16_cifar10(net: Net, images: Value) -> Value:
    """Batch normalisation after each convolution and a narrow classifier."""
    return _classify(net, _features(net, images, normalise=True), width=512)


def _features(net: Net, x: Value, *, normalise: bool) -> Value:
    initial = he if normalise else glorot
    for stage, (convolutions, channels) in enumerate(CONFIGURATION_D, start=1):
        for number in range(1, convolutions + 1):
            x = net.convolution(x, channels, 3, pad=1, initial=initial, name=f"conv{stage}_{number}")
            if normalise:
                x = net.batch_norm(x, name=f"bn{stage}_{number}")
            x = net.relu(x, name=f"relu{stage}_{number}")
        x = net.max_pool(x, 2, 2, name=f"pool{stage}")
    return net.flatten(x)


def _classify(net: Net, x: Value, *, width: int) -> Value:
    x = net.dropout(net.relu(net.linear(x, width, name="fc6"), name="relu6"))
    x = net.dropout(net.relu(net.linear(x, width, name="fc7"), name="relu7"))
    return net.classifier(x, name="fc8")
