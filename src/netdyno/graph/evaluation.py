"""The same network for answering: chance off, batch norms with their running statistics as plain maps per channel."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from netdyno.graph.check import ancestors
from netdyno.graph.model import Graph, Node, Optimizer, Parameter, Training, Update, constant
from netdyno.graph.settle import settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """What a batch norm became: scale = gamma / √(variance + epsilon), shift = beta − mean · scale.

    `scale` and `shift` are parameters of the graph for evaluation, the others of the graph that was trained. A scale
    of four dimensions has one number a channel; one of two dimensions is a matrix with them on its diagonal.
    """

    scale: str
    shift: str
    gamma: str
    beta: str
    mean: str
    variance: str
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A network that only answers. Parameters that are in no row of `affine` are the trained ones of that name."""

    training: Training
    affine: tuple[Affine, ...]


def needs_other_graph(training: Training) -> bool:
    """Would the graph that is trained answer otherwise than the one for evaluation?"""
    normalises = any(node.op == "batch_norm" for node in training.graph.nodes)
    return normalises or settled(training).graph != training.graph


def evaluation_of(training: Training) -> Evaluation:
    """The network for evaluation, with its outputs in the same order; it has an update because a training must."""
    graph = settled(training).graph
    norms = [node for node in graph.nodes if node.op == "batch_norm"]
    rows = tuple(_row(node) for node in norms)
    maps = {node.name: _map(node, row) for node, row in zip(norms, rows, strict=True)}
    nodes = tuple(maps.get(node.name, node) for node in graph.nodes)
    parameters = [made for node, row in zip(norms, rows, strict=True) for made in _made(node, row)]
    graph = replace(graph, nodes=nodes, parameters=(*parameters, *_used(graph.parameters, nodes)))
    return Evaluation(
        training=Training(graph=graph, updates=(_least_update(graph, training.updates[0]),)), affine=rows
    )


def _row(node: Node) -> Affine:
    _, gamma, beta, mean, variance = node.inputs
    return Affine(
        scale=f"{node.name}.affine_scale",
        shift=f"{node.name}.affine_shift",
        gamma=gamma,
        beta=beta,
        mean=mean,
        variance=variance,
        epsilon=node.attributes["epsilon"],
    )


def _map(node: Node, row: Affine) -> Node:
    """Every framework has a convolution in as many groups as channels; for vectors a matrix does."""
    inputs = (node.inputs[0], row.scale, row.shift)
    if len(node.shape) == 2:
        return Node(name=node.name, op="linear", inputs=inputs, shape=node.shape)
    window = {"strides": (1, 1), "padding": (0, 0, 0, 0), "groups": node.shape[1]}
    return Node(name=node.name, op="convolution", inputs=inputs, shape=node.shape, attributes=window)


def _made(node: Node, row: Affine) -> tuple[Parameter, Parameter]:
    channels = node.shape[1]
    shape = (channels, channels) if len(node.shape) == 2 else (channels, 1, 1, 1)
    return (
        Parameter(name=row.scale, shape=shape, initial=constant(1.0)),
        Parameter(name=row.shift, shape=(channels,), initial=constant(0.0)),
    )


def _used(parameters: Iterable[Parameter], nodes: Iterable[Node]) -> list[Parameter]:
    names = {name for node in nodes for name in node.inputs}
    return [parameter for parameter in parameters if parameter.name in names]


def _least_update(graph: Graph, update: Update) -> Update:
    """Over the last parameter alone, without moments: it is never made, and should cost nothing to prepare."""
    reached = ancestors(graph, update.loss)
    names = [p.name for p in graph.parameters if p.trainable and p.name in reached]
    return replace(update, parameters=(names[-1],), optimizer=Optimizer(kind="sgd", learning_rate=1.0))
