"""All-CNN-C (Springenberg et al. 2014, tables 1 and 2): a deep network of nothing but convolutions."""

from netdyno.zoo.builder import Net, Value
from netdyno.zoo.families.cnn.forms import CONSTANT, GROWING, SHRINKING, channels_of

# Part, kernel, stride, padding. Strides stand for pools; the 3×3 without padding leaves 6×6 of 8×8.
LAYERS = (
    (0, 3, 1, 1),
    (0, 3, 1, 1),
    (0, 3, 2, 1),
    (1, 3, 1, 1),
    (1, 3, 1, 1),
    (1, 3, 2, 1),
    (2, 3, 1, 0),
    (2, 1, 1, 0),
)
# The channels of each part, at whose end the side is halved: as published, four times as many, and eight times, so
# many that an image costs about the same.
FORMS = {SHRINKING: (96, 192, 192), CONSTANT: (53, 212, 848), GROWING: (23, 184, 1472)}


def all_cnn(net: Net, images: Value, *, width: float = 1.0, form: str = SHRINKING) -> Value:
    """`width` is a factor on the channels; `form` says how nodes go from layer to layer: "shrinking" as published,
    "constant" or "growing". A map per class is averaged to its logit."""
    parts = channels_of("dcn", FORMS, form, width)
    x = net.dropout(images, 0.2)
    for part, kernel, stride, pad in LAYERS:
        x = net.relu(net.convolution(x, parts[part], kernel, stride=stride, pad=pad))
        x = net.dropout(x) if stride > 1 else x
    return net.global_mean_pool(net.relu(net.convolution(x, net.classes, 1)))
