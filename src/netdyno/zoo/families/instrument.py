"""Almost nothing but matrix products: how fast a device trains when there is nothing else to wait for."""

from netdyno.graph.model import Draw
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import INSTRUMENT, Entry
from netdyno.zoo.initial_limits import logits
from netdyno.zoo.items import NONE

LAYERS = 8
CLASSES = 16


def matmul(net: Net, *, width: int = 4096) -> Value:
    """Square layers without biases or activations, and one narrow layer to have a loss.

    What is not a product (the update, the loss, the narrow layer) shrinks with the batch, which should be several
    times the width.
    """
    x = net.vectors(width)
    for number in range(1, LAYERS + 1):
        x = net.linear(x, width, bias=False, name=f"product{number}")
    output = net.linear(x, CLASSES, initial=logits, name="fc")
    labels = net.input("labels", (net.batch,), Draw(kind="integers", high=float(CLASSES)))
    net.update(net.softmax_cross_entropy(output, labels, name="loss"))
    return output


ENTRIES = (
    Entry(
        network="matmul",
        family=INSTRUMENT,
        items=NONE,
        build=matmul,
        source="netdyno's own, to measure the peak of a device: eight products of 4096 x 4096",
        # With width w: 8w² + 16w MACs, and 16 biases beside as many weights.
        parameters=134_283_280,
        macs=134_283_264,
        batch=16384,
        learning_rate=0.001,
        proof_options={"width": 64},
        note="counted by hand from the layers; use width=1024 on a CPU",
    ),
)
