"""The same network with chance switched off, so that two frameworks can be proved equal."""

from dataclasses import replace

from netdyno.graph.model import Graph, Node, Training


def settled(training: Training) -> Training:
    """Dropout passes values on, a Bernoulli draw gives its probability, a normal draw gives zeros."""
    renamed: dict[str, str] = {}
    nodes: list[Node] = []
    for node in training.graph.nodes:
        node = replace(node, inputs=tuple(renamed.get(name, name) for name in node.inputs))
        if node.op == "dropout":
            renamed[node.name] = node.inputs[0]
            continue
        nodes.extend(_without_chance(node, renamed))
    outputs = tuple(renamed.get(name, name) for name in training.graph.outputs)
    return replace(training, graph=_with_nodes(training.graph, nodes, outputs))


def _without_chance(node: Node, renamed: dict[str, str]) -> list[Node]:
    if node.op == "bernoulli":
        return [replace(node, op="stop_gradient", attributes={})]
    if node.op == "normal":
        zeros = f"{node.name}.zeros"
        renamed[node.name] = zeros
        return [
            node,
            Node(name=zeros, op="scale", inputs=(node.name,), shape=node.shape, attributes={"factor": 0.0}),
        ]
    return [node]


def _with_nodes(graph: Graph, nodes: list[Node], outputs: tuple[str, ...]) -> Graph:
    return replace(graph, nodes=tuple(nodes), outputs=outputs)
