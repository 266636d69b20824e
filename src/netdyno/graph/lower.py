"""How composite operations become primitives: one decomposition each, for frameworks without a kernel of their own.

The last primitive keeps the composite's name, so that whoever reads it need not know; inner ones are `name.part`.
Parameters that a decomposition adds are constants: no update and no step changes them.
"""

from dataclasses import replace

from netdyno.graph.decompositions import DECOMPOSITIONS
from netdyno.graph.model import Input, Node, Parameter, Programme
from netdyno.graph.ops import OPS
from netdyno.graph.parts import Parts


def lowered(programme: Programme, fused: frozenset[str]) -> Programme:
    """The programme with every composite op that is not in `fused` written in primitives."""
    graph = programme.graph
    known: dict[str, Input | Parameter | Node] = {value.name: value for value in graph.leaves()}
    taken = {value.name for value in graph.values()}
    nodes: list[Node] = []
    constants: list[Parameter] = []
    for node in graph.nodes:
        made = [node]
        if OPS[node.op].composite and node.op not in fused:
            parts = Parts(node, known, taken)
            DECOMPOSITIONS[node.op](parts, *node.inputs, **node.attributes)
            made = parts.nodes
            constants += parts.constants
        nodes += made
        known.update({each.name: each for each in made})
    return replace(programme, graph=replace(graph, nodes=tuple(nodes), parameters=(*graph.parameters, *constants)))


def composite_forms(programme: Programme, fused: frozenset[str]) -> dict[str, str]:
    """How the composite ops that it has are computed, for a record: by a kernel, or lowered to primitives."""
    ops = sorted({node.op for node in programme.graph.nodes if OPS[node.op].composite})
    parted = {"kernels": [op for op in ops if op in fused], "lowered": [op for op in ops if op not in fused]}
    return {form: " ".join(these) for form, these in parted.items() if these}
