"""All-CNN-C (Springenberg et al. 2014, tables 1 and 2): a deep network of nothing but convolutions."""

from netdyno.zoo.builder import Net, Value

# Channels, kernel, stride, padding. Strides stand for pools; the 3×3 without padding leaves 6×6 of 8×8.
LAYERS = (
    (96, 3, 1, 1),
    (96, 3, 1, 1),
    (96, 3, 2, 1),
    (192, 3, 1, 1),
    (192, 3, 1, 1),
    (192, 3, 2, 1),
    (192, 3, 1, 0),
    (192, 1, 1, 0),
)


def all_cnn(net: Net, images: Value, *, width: float = 1.0) -> Value:
    """`width` is a factor on the channels. A map per class is averaged to its logit."""
    x = net.dropout(images, 0.2)
    for channels, kernel, stride, pad in LAYERS:
        x = net.relu(net.convolution(x, round(width * channels), kernel, stride=stride, pad=pad))
        x = net.dropout(x) if stride > 1 else x
    return net.global_mean_pool(net.relu(net.convolution(x, net.classes, 1)))
