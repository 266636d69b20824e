"""How a programme is rewritten into a slightly wrong one, in ways that need no shape worked out by hand.

A node's attribute `mistake`, and optimizers of kinds that the graph does not have, are understood by the adapters in
`mutants/` only: they stand for mistakes that no graph can express.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.graph.check import resolve_kind, resolve_shape
from netdyno.graph.model import Draw, Node, Optimizer, Programme, Update

MISTAKE = "mistake"

Rewrite = Callable[[Programme], Programme | None]  # None: the network has nothing that it could change
Part = tuple[str, tuple[str, ...], Mapping[str, Any]]  # op, inputs, attributes: "x" is the value, "1" the first part


def changed_nodes(change: Callable[[Node], Mapping[str, Any] | None], *, only_middle: bool = False) -> Rewrite:
    """Other attributes for the nodes for which `change` gives some; for the middle one of them, or for all."""

    def rewrite(programme: Programme) -> Programme | None:
        changes = {node.name: new for node in programme.graph.nodes if (new := change(node))}
        if only_middle and changes:
            name = middle(list(changes))
            changes = {name: changes[name]}
        nodes = [
            replace(node, attributes={**node.attributes, **changes.get(node.name, {})})
            for node in programme.graph.nodes
        ]
        return resolved(programme, nodes) if changes else None

    return rewrite


def attribute(op: str, name: str, change: Callable[[Any], Any]) -> Rewrite:
    """Another value of one attribute in every node of an op."""
    return changed_nodes(lambda node: {name: change(node.attributes[name])} if node.op == op else None)


def mistaken(op: str, mistake: str, applies: Callable[[Node], bool] = lambda node: True) -> Rewrite:
    """A mistake of the adapter in the middle node of an op."""
    return changed_nodes(lambda n: {MISTAKE: mistake} if n.op == op and applies(n) else None, only_middle=True)


def transposed_matrix(programme: Programme) -> Programme | None:
    """The middle linear layer with a square weight reads it transposed."""
    shapes = programme.graph.shapes()
    return mistaken("linear", "transposed", lambda n: len(set(shapes[n.inputs[1]])) == 1)(programme)


def optimizer(kinds: Sequence[str], change: Callable[[Optimizer], Mapping[str, Any]]) -> Rewrite:
    """Other numbers, or another kind, where the optimizer is one of these."""

    def rewrite(programme: Programme) -> Programme | None:
        if not any(update.optimizer.kind in kinds for update in programme.updates()):
            return None
        return with_updates(programme, lambda u: replace(u, optimizer=replace(u.optimizer, **change(u.optimizer))))

    return rewrite


def gradient_of_value(op: str, factor: float) -> Rewrite:
    """The gradient that passes the middle node of an op, times `factor`; its value stays as it is."""

    def rewrite(programme: Programme) -> Programme | None:
        names = [node.name for node in programme.graph.nodes if node.op == op]
        return grafted(programme, middle(names), scaled_gradient(factor)) if names else None

    return rewrite


def gradient_of_parameter(ending: str, factor: float) -> Rewrite:
    """The gradient of the middle parameter of a role, times `factor`: 0 freezes it, 2 is twice the learning rate."""

    def rewrite(programme: Programme) -> Programme | None:
        names = [p.name for p in programme.graph.parameters if p.trainable and p.name.endswith("." + ending)]
        if not names:
            return None
        parts: list[Part] = [("stop_gradient", ("x",), {})] if factor == 0 else scaled_gradient(factor)
        return grafted(programme, middle(names), parts)

    return rewrite


def scaled_value(pick: Callable[[Programme], str | None], factor: float) -> Rewrite:
    """A value times `factor`, for everything that reads it."""

    def rewrite(programme: Programme) -> Programme | None:
        name = pick(programme)
        return grafted(programme, name, [("scale", ("x",), {"factor": factor})]) if name else None

    return rewrite


def leaky(slope: float) -> Rewrite:
    """The middle relu lets a share of everything through: (1 − slope) · relu(x) + slope · x."""

    def rewrite(programme: Programme) -> Programme | None:
        relus = [node for node in programme.graph.nodes if node.op == "relu"]
        if not relus:
            return None
        relu = relus[len(relus) // 2]
        parts: list[Part] = [("scale", ("x",), {"factor": 1.0 - slope})]
        parts += [("scale", (relu.inputs[0],), {"factor": slope}), ("add", ("1", "2"), {})]
        return grafted(programme, relu.name, parts)

    return rewrite


def other_inputs(op: str, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Rewrite:
    """The middle node of an op reads its inputs in another order."""

    def rewrite(programme: Programme) -> Programme | None:
        names = [node.name for node in programme.graph.nodes if node.op == op]
        nodes = [
            replace(node, inputs=change(node.inputs)) if names and node.name == middle(names) else node
            for node in programme.graph.nodes
        ]
        return resolved(programme, nodes) if names else None

    return rewrite


def lost_branch(programme: Programme) -> Programme | None:
    """No gradient passes the second input of the middle addition, as a skip connection that is cut."""
    additions = [node for node in programme.graph.nodes if node.op == "add"]
    if not additions:
        return None
    chosen = additions[len(additions) // 2]
    cut = Node(name=f"{chosen.name}~1", op="stop_gradient", inputs=chosen.inputs[1:], shape=())
    wrong = replace(chosen, inputs=(chosen.inputs[0], cut.name))
    nodes = [each for node in programme.graph.nodes for each in ([cut, wrong] if node is chosen else [node])]
    return resolved(programme, nodes)


def other_initial(ending: str, factor: float) -> Rewrite:
    """The middle parameter of a role starts from values times `factor`."""

    def rewrite(programme: Programme) -> Programme | None:
        graph = programme.graph
        names = [p.name for p in graph.parameters if p.name.endswith("." + ending)]
        parameters = tuple(
            replace(p, initial=Draw(kind=p.initial.kind, low=p.initial.low * factor, high=p.initial.high * factor))
            if names and p.name == middle(names)
            else p
            for p in graph.parameters
        )
        return replace(programme, graph=replace(graph, parameters=parameters)) if names else None

    return rewrite


def scaled_gradient(factor: float) -> list[Part]:
    """x as factor · x + (1 − factor) · x, of which only the first passes a gradient on."""
    return [
        ("scale", ("x",), {"factor": factor}),
        ("stop_gradient", ("x",), {}),
        ("scale", ("2",), {"factor": 1.0 - factor}),
        ("add", ("1", "3"), {}),
    ]


def grafted(programme: Programme, target: str, parts: Sequence[Part]) -> Programme | None:
    """With the last of `parts` in place of a value, wherever it is read; outputs stay what they are."""
    names = {"x": target, **{str(n): f"{target}~{n}" for n in range(1, len(parts) + 1)}}
    made = [
        Node(
            name=names[str(n)], op=op, inputs=tuple(names.get(i, i) for i in inputs), shape=(), attributes=attributes
        )
        for n, (op, inputs, attributes) in enumerate(parts, 1)
    ]
    is_node = any(node.name == target for node in programme.graph.nodes)
    nodes: list[Node] = [] if is_node else list(made)
    for node in programme.graph.nodes:
        nodes.append(replace(node, inputs=tuple(made[-1].name if name == target else name for name in node.inputs)))
        nodes += made if node.name == target else []
    rewritten = resolved(programme, nodes)
    if rewritten is None:
        return None
    return with_updates(rewritten, lambda u: replace(u, loss=made[-1].name) if u.loss == target else u)


def resolved(programme: Programme, nodes: Sequence[Node]) -> Programme | None:
    """The programme with these nodes, their shapes and kinds worked out; None if they do not fit together."""
    known: dict[str, Any] = {value.name: value for value in programme.graph.leaves()}
    made: list[Node] = []
    try:
        for node in nodes:
            values = [known[name] for name in node.inputs]
            attributes = {name: value for name, value in node.attributes.items() if name != MISTAKE}
            shape = resolve_shape(node.name, node.op, [value.shape for value in values], attributes)
            kind = resolve_kind(node.name, node.op, [value.kind for value in values], attributes)
            made.append(replace(node, shape=shape, kind=kind))
            known[node.name] = made[-1]
    except NetdynoError:
        return None
    return replace(programme, graph=replace(programme.graph, nodes=tuple(made)))


def with_updates(programme: Programme, change: Callable[[Update], Update]) -> Programme:
    stages = tuple(replace(stage, updates=tuple(map(change, stage.updates))) for stage in programme.stages)
    return replace(programme, stages=stages)


def middle(names: Sequence[str]) -> str:
    return names[len(names) // 2]
