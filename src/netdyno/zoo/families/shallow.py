"""Networks with one hidden layer: a classifier, and one that says its input again."""

from netdyno.graph.model import Optimizer
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import SHALLOW, Entry
from netdyno.zoo.items import MNIST


def ffn(net: Net, images: Value, *, hidden: int = 512) -> Value:
    """A hidden layer of sigmoid units between the pixels and the classes."""
    x = net.sigmoid(net.linear(net.flatten(images), hidden, name="hidden"))
    return net.classifier(x, name="classes")


def autoencoder(net: Net, images: Value, *, hidden: int = 256) -> Value:
    """A code of sigmoid units, and the pixels again from it. The loss is the cross entropy of an image."""
    pixels = net.flatten(images)
    code = net.sigmoid(net.linear(pixels, hidden, name="code"))
    again = net.linear(code, pixels.shape[1], name="again")
    of_a_pixel = net.binary_cross_entropy(again, pixels)
    loss = net.scale(of_a_pixel, pixels.shape[1], name="loss")
    net.update(loss, optimizer=Optimizer(kind="adam", learning_rate=net.learning_rate))
    return again


_COUNTED = "counted by hand from the layers"

ENTRIES = (
    Entry(
        network="ffn",
        family=SHALLOW,
        items=MNIST,
        build=ffn,
        source="LeCun et al. 1998, Gradient-based learning applied to document recognition, section III.C.6: one "
        "hidden layer, there of 300 and 1,000 units",
        parameters=784 * 512 + 512 + 512 * 10 + 10,
        macs=784 * 512 + 512 * 10,
        batch=64,
        learning_rate=0.1,
        steps=938,
        note=_COUNTED,
    ),
    Entry(
        network="autoencoder",
        family=SHALLOW,
        items=MNIST.within(0.0, 1.0),
        build=autoencoder,
        source="Hinton and Salakhutdinov 2006, Reducing the dimensionality of data with neural networks; one layer",
        parameters=2 * 784 * 256 + 256 + 784,
        macs=2 * 784 * 256,
        batch=64,
        learning_rate=0.001,
        steps=938,
        note=_COUNTED,
    ),
)
