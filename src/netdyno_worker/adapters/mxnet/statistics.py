"""Which batch norms need a backward pass only because MXNet moves their running statistics in it."""

from netdyno_worker.program import nodes_for

_STOPS = ("stop_gradient", "bernoulli")


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
