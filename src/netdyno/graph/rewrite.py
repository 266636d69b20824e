"""How a programme is rewritten for a proof: the same network without randomness."""

from dataclasses import replace

from netdyno.graph.model import Graph, Node, Programme


def without_randomness(programme: Programme) -> Programme:
    """Dropout passes values on, a Bernoulli draw gives its probability, a normal draw gives zeros."""
    renamed: dict[str, str] = {}
    nodes: list[Node] = []
    for node in programme.graph.nodes:
        node = replace(node, inputs=tuple(renamed.get(name, name) for name in node.inputs))
        if node.op == "dropout":
            renamed[node.name] = node.inputs[0]
            continue
        nodes.extend(_without_draw(node, renamed))
    outputs = tuple(renamed.get(name, name) for name in programme.graph.outputs)
    return replace(programme, graph=_with_nodes(programme.graph, nodes, outputs))


def _without_draw(node: Node, renamed: dict[str, str]) -> list[Node]:
    if node.op == "bernoulli":
        return [replace(node, op="stop_gradient", attributes={})]
    if node.op == "normal":
        zeros = f"{node.name}.zeros"
        renamed[node.name] = zeros
        return [
            node,
            replace(node, name=zeros, op="scale", inputs=(node.name,), attributes={"factor": 0.0}),
        ]
    return [node]


def _with_nodes(graph: Graph, nodes: list[Node], outputs: tuple[str, ...]) -> Graph:
    return replace(graph, nodes=tuple(nodes), outputs=outputs)
