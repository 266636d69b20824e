"""A network that draws: from a class and a code to an image, through transposed convolutions that grow.

A small form of the generator of Dosovitskiy et al. 2015, Learning to generate chairs: a stream of its own for each of
its inputs, linear layers over both, and maps that double their side and halve their channels.
"""

from netdyno.graph.model import Draw
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.families.cnn.forms import CONSTANT, GROWING, SHRINKING, channels_of

CODE = 16  # numbers that say what the class leaves open, such as the viewpoint of a chair
SIDE = 4  # of the first map

# Kernel, stride, padding: 4 → 7 → 14, and then 28.
LAYERS = ((3, 2, 1), (4, 2, 1))
# The channels of the first map and of the layers: halves from one to the next, quarters, and eighths, so many that an
# image costs about the same.
FORMS = {GROWING: (256, 128, 64), CONSTANT: (371, 121, 30), SHRINKING: (517, 84, 11)}


def deconv(net: Net, images: Value, *, width: float = 1.0, form: str = GROWING) -> Value:
    """`width` is a factor on the units and channels; `form` says how nodes go from layer to layer: "growing",
    "constant" or "shrinking". The images are what it should draw."""
    first, *others = channels_of("deconv", FORMS, form, width)
    streams = net.concat(*(_stream(net, x, name, width) for name, x in _inputs(net).items()))
    x = net.relu(net.linear(streams, round(width * 1024), name="fc2"))
    x = net.relu(net.linear(x, first * SIDE**2, name="fc3"))
    x = net.reshape(x, (-1, first, SIDE, SIDE), kind="image")
    for channels, (kernel, stride, pad) in zip(others, LAYERS, strict=True):
        x = net.relu(net.transposed_convolution(x, channels, kernel, stride=stride, pad=pad))
    drawn = net.transposed_convolution(x, images.shape[1], 4, stride=2, pad=1)
    net.update(net.mean_squared_error(drawn, images, name="loss"))
    return drawn


def _inputs(net: Net) -> dict[str, Value]:
    code = net.input("code", (net.batch, CODE), Draw(kind="normal"))
    return {"class": net.one_hot(net.labels, net.classes), "code": code}


def _stream(net: Net, x: Value, name: str, width: float) -> Value:
    return net.relu(net.linear(x, round(width * 512), name=f"fc1.{name}"))
