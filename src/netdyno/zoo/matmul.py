"""Almost nothing but matrix products: how fast a device trains when there is nothing else to wait for."""

from netdyno.zoo.builder import Net, Value

LAYERS = 8


def matmul(net: Net, vectors: Value) -> Value:
    """Square layers as wide as the vectors, without biases or activations, and one narrow layer to have a loss.

    What is not a product (the update, the loss, the narrow layer) shrinks with the batch, which should be several
    times the width.
    """
    x = net.flatten(vectors)
    for number in range(1, LAYERS + 1):
        x = net.linear(x, x.shape[1], bias=False, name=f"product{number}")
    return net.classifier(x, name="fc")
