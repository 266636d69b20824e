"""The network that answers: randomness off, batch norms folded into the map before them with running statistics."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from netdyno.graph.check import ancestors
from netdyno.graph.model import Graph, Node, Optimizer, Parameter, Programme, Shape, Stage, Update, constant
from netdyno.graph.rewrite import without_randomness

LINEAR = ("convolution", "linear")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What a batch norm became: a map with a weight and a bias, in place of it and of the map before it.

    With f = gamma / √(variance + epsilon) for each channel, `weight` is f times that of the map before, and `bias`
    is beta + f · (its bias − mean). `old_weight` is None where no map could be taken in: that counts as the identity,
    a missing `old_bias` as 0. `weight` and `bias` are parameters of the graph for evaluation, all others of the
    graph that was trained.
    """

    weight: str
    bias: str
    old_weight: str | None
    old_bias: str | None
    gamma: str
    beta: str
    mean: str
    variance: str
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A network that only answers. Parameters that are in no row of `folded` are the trained ones of that name."""

    programme: Programme
    folded: tuple[Folded, ...]


def needs_other_graph(programme: Programme) -> bool:
    """Does the graph that is trained give other answers than the one for evaluation?"""
    normalises = any(node.op == "batch_norm" for node in programme.graph.nodes)
    return normalises or without_randomness(programme).graph != programme.graph


def evaluation_of(programme: Programme) -> Evaluation:
    """The network for evaluation, with its outputs in the same order; it has an update because adapters build one."""
    graph = without_randomness(programme).graph
    taken_in = _maps_before_norms(graph)
    gone = {before.name for before in taken_in.values()}
    norms = [node for node in graph.nodes if node.op == "batch_norm"]
    rows = {node.name: _row(node, taken_in.get(node.name)) for node in norms}
    maps = {node.name: _map(node, taken_in.get(node.name), rows[node.name]) for node in norms}
    nodes = tuple(maps.get(node.name, node) for node in graph.nodes if node.name not in gone)
    made = [p for node in norms for p in _parameters(graph, taken_in.get(node.name), rows[node.name], node)]
    graph = replace(graph, nodes=nodes, parameters=(*made, *_used(graph.parameters, nodes)))
    stage = Stage(name="train", updates=(_least_update(graph, programme.updates()[0]),))
    return Evaluation(programme=Programme(graph=graph, stages=(stage,)), folded=tuple(rows.values()))


def answering(programme: Programme, output: str) -> Programme:
    """The graph that is trained, draws and all, with one output; it too has an update, which is never made."""
    graph, update = programme.graph, programme.updates()[0]
    reached = ancestors(graph, output) | ancestors(graph, update.loss)
    kept = replace(
        graph,
        inputs=tuple(given for given in graph.inputs if given.name in reached),
        parameters=tuple(parameter for parameter in graph.parameters if parameter.name in reached),
        nodes=tuple(node for node in graph.nodes if node.name in reached),
        outputs=(output,),
    )
    return Programme(graph=kept, stages=(Stage(name="train", updates=(_least_update(kept, update),)),))


def _maps_before_norms(graph: Graph) -> dict[str, Node]:
    """{batch norm: the convolution or matrix before it}, where nobody else sees what lies between."""
    nodes = {node.name: node for node in graph.nodes}
    readers = Counter(name for node in graph.nodes for name in node.inputs) + Counter(graph.outputs)
    pairs = [(n.name, nodes[n.inputs[0]]) for n in graph.nodes if n.op == "batch_norm" and n.inputs[0] in nodes]
    return {name: before for name, before in pairs if before.op in LINEAR and readers[before.name] == 1}


def _row(node: Node, before: Node | None) -> Folded:
    _, gamma, beta, mean, variance = node.inputs
    return Folded(
        weight=f"{node.name}.folded_weight",
        bias=f"{node.name}.folded_bias",
        old_weight=before.inputs[1] if before else None,
        old_bias=before.inputs[2] if before and len(before.inputs) > 2 else None,
        gamma=gamma,
        beta=beta,
        mean=mean,
        variance=variance,
        epsilon=node.attributes["epsilon"],
    )


def _map(node: Node, before: Node | None, row: Folded) -> Node:
    """A norm that follows no map becomes one of each channel to itself. Not in as many groups as channels: frameworks
    are slow or even wrong there."""
    if before is not None:
        return replace(before, name=node.name, inputs=(before.inputs[0], row.weight, row.bias))
    inputs = (node.inputs[0], row.weight, row.bias)
    if node.kind == "plain":
        return Node(name=node.name, op="linear", inputs=inputs, shape=node.shape)
    window = {"strides": (1, 1), "padding": (0, 0, 0, 0), "groups": 1}
    return Node(name=node.name, op="convolution", inputs=inputs, shape=node.shape, attributes=window, kind=node.kind)


def _parameters(graph: Graph, before: Node | None, row: Folded, node: Node) -> tuple[Parameter, Parameter]:
    channels = node.shape[1]
    identity: Shape = (channels, channels) if node.kind == "plain" else (channels, channels, 1, 1)
    shape = graph.shapes()[before.inputs[1]] if before else identity
    return (
        Parameter(name=row.weight, shape=shape, initial=constant(1.0), kind="kernel" if len(shape) == 4 else "plain"),
        Parameter(name=row.bias, shape=(channels,), initial=constant(0.0)),
    )


def _used(parameters: Iterable[Parameter], nodes: Iterable[Node]) -> list[Parameter]:
    names = {name for node in nodes for name in node.inputs}
    return [parameter for parameter in parameters if parameter.name in names]


def _least_update(graph: Graph, update: Update) -> Update:
    """Over the last parameter alone, without moments: it is never made, and should cost nothing to prepare."""
    reached = ancestors(graph, update.loss)
    names = [p.name for p in graph.parameters if p.trainable and p.name in reached]
    return replace(update, parameters=(names[-1],), optimizer=Optimizer(kind="sgd", learning_rate=1.0))
