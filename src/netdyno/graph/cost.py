"""What each node and a whole step cost: MACs, FLOPs, bytes read, written and kept for the backward pass."""

from dataclasses import dataclass
from math import prod

from netdyno.graph.model import Graph, Node, Programme, Shape
from netdyno.graph.ops import OPS

BYTES = 4  # every value is counted as float32, whatever precision it is later computed in


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCost:
    """Counts for the whole batch.

    `backward_flops` leaves out gradients that nobody needs: those of inputs, and of what depends on no parameter.
    `read_bytes` and `written_bytes` are of the forward pass: every operand once, the output once. `kept_bytes` are
    values that this node is the first to keep for the backward pass.
    """

    name: str
    op: str
    shape: Shape
    macs: int
    forward_flops: int
    backward_flops: int
    read_bytes: int
    written_bytes: int
    kept_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts for the whole batch; divide MACs and FLOPs by `batch` for one item."""

    batch: int
    parameters: int
    macs: int
    forward_flops: int
    step_flops: int
    parameter_bytes: int
    kept_bytes: int


def totals(programme: Programme) -> Totals:
    """Add up every node and the updates."""
    graph, costs = programme.graph, node_costs(programme.graph)
    forward = sum(cost.forward_flops for cost in costs)
    backward = sum(cost.backward_flops for cost in costs)
    return Totals(
        batch=graph.inputs[0].shape[0],
        parameters=graph.parameter_count(),
        macs=sum(cost.macs for cost in costs),
        forward_flops=forward,
        step_flops=forward + backward + _update_flops(programme),
        parameter_bytes=BYTES * graph.parameter_count(),
        kept_bytes=sum(cost.kept_bytes for cost in costs),
    )


def node_costs(graph: Graph) -> list[NodeCost]:
    """The cost of each node, in order."""
    shapes, wanted = graph.shapes(), _need_gradient(graph)
    kept = {parameter.name for parameter in graph.parameters}  # are there anyway
    costs = []
    for node in graph.nodes:
        needed = _kept_values(node) - kept if node.name in wanted else set()
        kept |= needed
        costs.append(_node_cost(node, shapes, wanted, needed))
    return costs


def _node_cost(node: Node, shapes: dict[str, Shape], wanted: set[str], kept: set[str]) -> NodeCost:
    op = OPS[node.op]
    flops = op.flops([shapes[name] for name in node.inputs], node.shape, node.attributes)
    spared = 0 if node.inputs and node.inputs[0] in wanted else flops.to_input
    masks = op.mask_bytes * prod(node.shape) if node.name in wanted else 0
    return NodeCost(
        name=node.name,
        op=node.op,
        shape=node.shape,
        macs=flops.macs,
        forward_flops=flops.forward,
        backward_flops=flops.backward - spared if node.name in wanted else 0,
        read_bytes=_read_bytes(node, shapes),
        written_bytes=0 if op.view else BYTES * prod(node.shape),
        kept_bytes=masks + _bytes(kept, shapes),
    )


def _read_bytes(node: Node, shapes: dict[str, Shape]) -> int:
    op = OPS[node.op]
    if op.view:
        return 0
    whole = set(node.inputs[1:] if op.picks else node.inputs)
    return _bytes(whole, shapes) + (BYTES * prod(node.shape) if op.picks else 0)


def _bytes(names: set[str], shapes: dict[str, Shape]) -> int:
    return BYTES * sum(prod(shapes[name]) for name in names)


def _kept_values(node: Node) -> set[str]:
    op = OPS[node.op]
    by_role = dict(zip(op.roles(), node.inputs, strict=False)) | {"output": node.name}
    return {by_role[role] for role in op.keeps}


def _need_gradient(graph: Graph) -> set[str]:
    """Values through which a gradient flows to a trainable parameter."""
    wanted = {parameter.name for parameter in graph.parameters if parameter.trainable}
    for node in graph.nodes:
        if not OPS[node.op].blocks_gradient and wanted.intersection(node.inputs):
            wanted.add(node.name)
    return wanted


def _update_flops(programme: Programme) -> int:
    per_number = {"sgd": 2, "momentum": 4, "adam": 12}
    shapes = programme.graph.shapes()
    return sum(
        per_number[update.optimizer.kind] * prod(shapes[name])
        for update in programme.updates()
        for name in update.parameters
    )
