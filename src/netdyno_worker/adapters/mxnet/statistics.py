"""How the running statistics of MXNet's batch norm become those that the graph means."""

import numpy as np

from netdyno_worker.contract import Unsupported
from netdyno_worker.program import nodes_for, shapes

_STOPS = ("stop_gradient", "bernoulli")


def variance_scales(program):
    """{running variance: what MXNet's is multiplied with to be the graph's}.

    MXNet averages the biased variance of each batch, the graph the unbiased one. An average is linear, so the two
    always differ by the same factor if they do at the start.
    """
    known, scales = shapes(program), {}
    for node in program.nodes:
        if node.op == "batch_norm":
            shape, variance = known[node.inputs[0]], node.inputs[4]
            count = float(np.prod(shape)) / shape[1]
            scale = count / max(count - 1.0, 1.0)
            if scales.setdefault(variance, scale) != scale:
                raise Unsupported("'%s' is shared by batch norms over different numbers of values" % variance)
    return scales


def unmoved(program, update):
    """The batch norms that the update's loss depends on but whose backward pass it does not need.

    MXNet moves running statistics in the backward pass, the graph whenever the loss depends on them.
    """
    nodes = nodes_for(program, [update.loss])
    trained, flowing = set(update.parameters), {update.loss}
    for node in nodes:
        if node.op not in _STOPS and trained.intersection(node.inputs):
            trained.add(node.name)
    for node in reversed(nodes):
        if node.op not in _STOPS and node.name in flowing:
            flowing.update(node.inputs)
    return [node for node in nodes if node.op == "batch_norm" and node.name not in trained & flowing]
