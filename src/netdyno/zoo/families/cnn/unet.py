"""U-Net (Ronneberger et al. 2015, figure 1): a class for every pixel, from a path that narrows and one that widens.

Convolutions are not padded, so the maps that cross from one path to the other are cropped, and the answer is smaller
than the image: 388×388 of 572×572. Dropout ends the narrowing path, as in the authors' own release. The loss is the
plain mean over pixels, without the weights of the paper.
"""

from netdyno.graph.model import Draw, Optimizer
from netdyno.zoo.builder import Net, Value

CHANNELS = (64, 128, 256, 512)  # of the levels, from the top
BOTTOM = 1024
MOMENTUM = 0.99  # in place of larger batches


def unet(net: Net, images: Value, *, width: float = 1.0) -> Value:
    """`width` is a factor on the channels."""
    x, crossing = images, []
    for level, channels in enumerate(CHANNELS, start=1):
        with net.scope(f"down{level}"):
            x = _convolve_twice(net, x, round(width * channels))
            crossing.append(net.dropout(x) if channels == CHANNELS[-1] else x)
            x = net.max_pool(crossing[-1], 2, 2)
    with net.scope("bottom"):
        x = net.dropout(_convolve_twice(net, x, round(width * BOTTOM)))
    for level, channels in reversed(list(enumerate(CHANNELS, start=1))):
        with net.scope(f"up{level}"):
            x = _joined(net, crossing[level - 1], x, round(width * channels))
    return _classify_pixels(net, x)


def _joined(net: Net, crossing: Value, x: Value, channels: int) -> Value:
    """Twice the side and half the channels, beside the middle of what crosses from the same level."""
    x = net.transposed_convolution(x, channels, 2, stride=2)
    return _convolve_twice(net, net.concat(_cropped(net, crossing, x), x), channels)


def _cropped(net: Net, x: Value, wanted: Value) -> Value:
    for axis in (2, 3):
        start = (x.shape[axis] - wanted.shape[axis]) // 2
        x = net.slice(x, axis, start, start + wanted.shape[axis])
    return x


def _convolve_twice(net: Net, x: Value, channels: int) -> Value:
    for _ in range(2):
        x = net.relu(net.convolution(x, channels, 3))
    return x


def _classify_pixels(net: Net, x: Value) -> Value:
    """A row of logits for each pixel, and a label that it is compared with."""
    maps = net.convolution(x, net.classes, 1, name="classes")
    logits = net.reshape(net.transpose(maps, (0, 2, 3, 1)), (-1, net.classes), name="logits")
    draw = Draw(kind="integers", high=float(net.classes))
    labels = net.input("labels", (net.batch, *maps.shape[2:]), draw)
    loss = net.softmax_cross_entropy(logits, net.reshape(labels, (-1,)), name="loss")
    net.update(loss, optimizer=Optimizer(kind="momentum", learning_rate=net.learning_rate, momentum=MOMENTUM))
    return logits
