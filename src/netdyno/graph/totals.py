"""What a whole training step costs: MACs, FLOPs, bytes of parameters and of values kept for backward."""

from dataclasses import dataclass
from math import prod

from netdyno.graph.cost import Cost
from netdyno.graph.model import Graph, Node, Programme, Shape
from netdyno.graph.ops import OPS

BYTES = 4  # every value is counted as float32, whatever precision it is later computed in


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts for the whole batch; divide MACs and FLOPs by `batch` for one image."""

    batch: int
    parameters: int
    macs: int
    forward_flops: int
    step_flops: int
    parameter_bytes: int
    kept_bytes: int


def totals(programme: Programme) -> Totals:
    """Add up every node, with the gradient that no first layer needs left out, and the updates."""
    graph = programme.graph
    costs = node_costs(graph)
    wanted = _need_gradient(graph)
    backward = sum(
        cost.backward_flops - (cost.input_flops if node.inputs[0] not in wanted else 0)
        for node, cost in zip(graph.nodes, costs, strict=True)
        if node.name in wanted
    )
    forward = sum(cost.forward_flops for cost in costs)
    return Totals(
        batch=graph.inputs[0].shape[0],
        parameters=graph.parameter_count(),
        macs=sum(cost.macs for cost in costs),
        forward_flops=forward,
        step_flops=forward + backward + _update_flops(programme),
        parameter_bytes=BYTES * graph.parameter_count(),
        kept_bytes=kept_bytes(graph),
    )


def node_costs(graph: Graph) -> list[Cost]:
    """The cost of each node, in order."""
    shapes = graph.shapes()
    return [_cost(node, shapes) for node in graph.nodes]


def kept_bytes(graph: Graph) -> int:
    """Values that the backward pass needs, each counted once even if several nodes keep it."""
    shapes = graph.shapes()
    parameters = {parameter.name for parameter in graph.parameters}
    wanted = _need_gradient(graph)
    kept: set[str] = set()
    masks = 0
    for node in graph.nodes:
        if node.name in wanted:
            kept.update(_kept_values(node))
            masks += OPS[node.op].mask_bytes * prod(node.shape)
    return masks + BYTES * sum(prod(shapes[name]) for name in kept - parameters)


def _kept_values(node: Node) -> list[str]:
    roles = OPS[node.op].inputs
    by_role = dict(zip(roles, node.inputs, strict=False)) | {"output": node.name}
    return [by_role[role] for role in OPS[node.op].keeps]


def _need_gradient(graph: Graph) -> set[str]:
    """Values through which a gradient flows to a trainable parameter."""
    wanted = {parameter.name for parameter in graph.parameters if parameter.trainable}
    for node in graph.nodes:
        if not OPS[node.op].blocks_gradient and wanted.intersection(node.inputs):
            wanted.add(node.name)
    return wanted


def _cost(node: Node, shapes: dict[str, Shape]) -> Cost:
    return OPS[node.op].cost([shapes[name] for name in node.inputs], node.shape, node.attributes)


def _update_flops(programme: Programme) -> int:
    per_number = {"sgd": 2, "momentum": 4, "adam": 12}
    shapes = programme.graph.shapes()
    return sum(
        per_number[update.optimizer.kind] * prod(shapes[name])
        for update in programme.updates()
        for name in update.parameters
    )
