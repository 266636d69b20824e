"""Is this graph sound? Every error names the node, what was expected and what was received."""

from collections.abc import Mapping, Sequence
from typing import Any

from netdyno.errors import NetdynoError, unknown
from netdyno.graph.kinds import KERNEL, KINDS, RANKS
from netdyno.graph.model import Graph, Input, Node, Optimizer, Parameter, Programme, Shape, Update
from netdyno.graph.op import Op
from netdyno.graph.ops import OPS
from netdyno.graph.shapes import ShapeError

OPTIMIZERS = ("sgd", "momentum", "adam")
DRAWS = ("uniform", "normal", "band", "causal")  # of parameters
MATRICES = ("band", "causal")  # say what is in a row and a column
INPUT_DRAWS = ("uniform", "normal", "integers")
DTYPES = ("float", "integer")


def check_programme(programme: Programme) -> None:
    """Raise NetdynoError at the first mistake."""
    graph = programme.graph
    _check_names(graph)
    _check_leaves(graph)
    _check_nodes(graph)
    for output in graph.outputs:
        _expect(output in graph.shapes(), f"output '{output}'", "the name of a value", output)
    _check_stages(programme)
    for update in programme.updates():
        _check_update(update, graph)


def resolve_shape(name: str, op_name: str, inputs: Sequence[Shape], attributes: Mapping[str, Any]) -> Shape:
    """The shape of a node about to be made, after checking its op, arity and attributes."""
    if op_name not in OPS:
        raise NetdynoError(f"node '{name}': {unknown('op', op_name, OPS)}")
    op = OPS[op_name]
    _check_arity(name, op, len(inputs))
    _check_attributes(name, op, attributes)
    try:
        return op.shape(inputs, attributes)
    except ShapeError as error:
        raise NetdynoError(f"node '{name}' ({op_name}): expected {error}.") from None


def resolve_kind(name: str, op_name: str, inputs: Sequence[str], attributes: Mapping[str, Any]) -> str:
    """The kind of a node whose shape was resolved."""
    try:
        return OPS[op_name].kind(inputs, attributes)
    except ShapeError as error:
        raise NetdynoError(f"node '{name}' ({op_name}): expected {error}.") from None


def ancestors(graph: Graph, value: str) -> set[str]:
    """Every value that `value` is computed from, itself included."""
    nodes = {node.name: node for node in graph.nodes}
    seen: set[str] = set()
    waiting = [value]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(nodes[name].inputs if name in nodes else ())
    return seen


def _check_names(graph: Graph) -> None:
    seen: set[str] = set()
    for value in graph.values():
        _expect(bool(value.name), "a value", "a name", "an empty one")
        _expect(value.name not in seen, f"'{value.name}'", "a name used once", "it twice")
        seen.add(value.name)


def _check_leaves(graph: Graph) -> None:
    """Inputs and parameters: their draws, kinds and types."""
    for drawn in graph.inputs:
        where, draw = f"input '{drawn.name}'", drawn.draw.kind
        _expect(draw in INPUT_DRAWS, where, f"a draw among {INPUT_DRAWS}", draw)
        _expect(drawn.kind in KINDS, where, f"a kind among {KINDS}", drawn.kind)
        _expect(drawn.dtype in DTYPES, where, f"a dtype among {DTYPES}", drawn.dtype)
        _expect((draw == "integers") == (drawn.dtype == "integer"), where, "integers drawn as integers", draw)
    for parameter in graph.parameters:
        where, draw = f"parameter '{parameter.name}'", parameter.initial.kind
        _expect(draw in DRAWS, where, f"a draw among {DRAWS}", draw)
        _expect(draw not in MATRICES or len(parameter.shape) > 1, where, "two axes or more", list(parameter.shape))
        _expect(parameter.kind in (*KINDS, KERNEL), where, f"a kind among {(*KINDS, KERNEL)}", parameter.kind)
    for value in graph.leaves():
        rank = RANKS.get(value.kind, len(value.shape))
        _expect(len(value.shape) == rank, f"'{value.name}' ({value.kind})", f"{rank} axes", list(value.shape))


def _check_nodes(graph: Graph) -> None:
    known: dict[str, Input | Parameter | Node] = {value.name: value for value in graph.leaves()}
    integers = {drawn.name for drawn in graph.inputs if drawn.dtype == "integer"}
    state = {parameter.name for parameter in graph.parameters if not parameter.trainable}
    for node in graph.nodes:
        for name in node.inputs:
            _expect(name in known, f"node '{node.name}'", "inputs that come earlier", f"'{name}'")
        inputs = [known[name] for name in node.inputs]
        shape = resolve_shape(node.name, node.op, [value.shape for value in inputs], node.attributes)
        _expect(shape == node.shape, f"node '{node.name}'", f"shape {list(shape)}", list(node.shape))
        kind = resolve_kind(node.name, node.op, [value.kind for value in inputs], node.attributes)
        _expect(kind == node.kind, f"node '{node.name}'", f"kind '{kind}'", f"'{node.kind}'")
        _check_roles(node, state, integers)
        if OPS[node.op].any_type and node.inputs[0] in integers:
            integers.add(node.name)
        known[node.name] = node


def _check_roles(node: Node, state: set[str], integers: set[str]) -> None:
    """State goes to state roles, and integers to roles that want them and nowhere else."""
    op, where = OPS[node.op], f"node '{node.name}'"
    roles = op.roles()
    for place, name in enumerate(node.inputs):
        role = roles[min(place, len(roles) - 1)]
        if role in op.state:
            _expect(name in state, where, f"state as its {role}", f"'{name}'")
        if op.any_type:
            continue
        wanted = "integers" if role in op.integers else "floats"
        _expect((name in integers) == (wanted == "integers"), where, f"{wanted} as its {role}", f"'{name}'")


def _check_stages(programme: Programme) -> None:
    """Updates are named once over all stages, because losses and gradients are read by their names."""
    for what, names in (
        ("stages", [stage.name for stage in programme.stages]),
        ("updates", [update.name for update in programme.updates()]),
    ):
        _expect(len(set(names)) == len(names), what, "names used once", names)
    for stage in programme.stages:
        _expect(bool(stage.updates), f"stage '{stage.name}'", "at least one update", "none")


def _check_arity(name: str, op: Op, count: int) -> None:
    least, most = op.arity()
    wanted = f"{least} inputs" if most == least else f"{least} to {most if most else 'any number of'} inputs"
    _expect(least <= count and (most is None or count <= most), f"node '{name}'", wanted, count)


def _check_attributes(name: str, op: Op, attributes: Mapping[str, Any]) -> None:
    for key in attributes:
        _expect(key in op.attributes, f"node '{name}'", f"attributes {sorted(op.attributes)}", f"'{key}'")
    for key, attribute in op.attributes.items():
        if attribute.optional and key not in attributes:
            continue
        _expect(key in attributes, f"node '{name}'", f"an attribute '{key}'", "none")
        value = attributes[key]
        _expect(attribute.holds(value), f"node '{name}', {key}", attribute.meaning, repr(value))


def _check_update(update: Update, graph: Graph) -> None:
    where = f"update '{update.name}'"
    shapes = graph.shapes()
    _expect(shapes.get(update.loss) == (), where, "a scalar node as loss", f"'{update.loss}'")
    trainable = {parameter.name for parameter in graph.parameters if parameter.trainable}
    reached = ancestors(graph, update.loss)
    _expect(bool(update.parameters), where, "at least one parameter", "none")
    for name in update.parameters:
        _expect(name in trainable, where, "trainable parameters", f"'{name}'")
        _expect(name in reached, where, f"parameters that '{update.loss}' depends on", f"'{name}'")
    _check_optimizer(where, update.optimizer)


def _check_optimizer(where: str, optimizer: Optimizer) -> None:
    if optimizer.kind not in OPTIMIZERS:
        raise NetdynoError(f"{where}: {unknown('optimizer', optimizer.kind, OPTIMIZERS)}")
    _expect(optimizer.learning_rate > 0, where, "a learning rate over 0", optimizer.learning_rate)


def _expect(holds: bool, where: str, expected: str, received: object) -> None:
    if not holds:
        raise NetdynoError(f"{where}: expected {expected}, received {received}.")
