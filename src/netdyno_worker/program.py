"""What is to be trained, as an adapter reads it: the wire form of a graph turned into named tuples."""

from collections import OrderedDict, namedtuple

from netdyno_worker.contract import Unsupported

FORMAT = 2

# kind: "image", "sequence" or "plain", of a parameter also "kernel": what the axes mean. dtype: "float" or "integer".
Input = namedtuple("Input", "name shape draw kind dtype")
Parameter = namedtuple("Parameter", "name shape initial trainable kind")
Node = namedtuple("Node", "name op inputs shape kind attributes")
Update = namedtuple("Update", "name loss parameters optimizer")
Stage = namedtuple("Stage", "name updates")
# What is true of every node of an op. roles: of its inputs, the last one repeats. weights: roles that are learnt.
# state: roles that steps change without learning. elementwise, blocks_gradient, random, loss, composite: bool.
Facts = namedtuple("Facts", "roles weights state elementwise blocks_gradient random loss composite")
# updates: those that a step makes; of the only stage, none for inference. facts: {op: Facts} of the ops in it.
Program = namedtuple("Program", "inputs parameters nodes outputs stages updates facts")


def read_program(wire):
    """The program in a wire form; shapes and attributes that are lists become tuples."""
    if wire["format"] != FORMAT:
        raise ValueError("expected a graph of format %d, received %r" % (FORMAT, wire["format"]))
    graph, stages = wire["graph"], [_read_stage(stage) for stage in wire["stages"]]
    if len(stages) > 1:
        raise Unsupported("the worker trains one stage, received %s" % ", ".join(stage.name for stage in stages))
    return Program(
        inputs=[Input(**dict(i, shape=tuple(i["shape"]))) for i in graph["inputs"]],
        parameters=[Parameter(**dict(p, shape=tuple(p["shape"]))) for p in graph["parameters"]],
        nodes=[_read_node(n) for n in graph["nodes"]],
        outputs=list(graph["outputs"]),
        stages=stages,
        updates=stages[0].updates if stages else [],
        facts={op: Facts(**facts) for op, facts in wire["facts"].items()},
    )


def nodes_for(program, targets):
    """The nodes that `targets` are computed from, in order."""
    by_name = OrderedDict((node.name, node) for node in program.nodes)
    needed = set()
    waiting = list(targets)
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in needed:
            needed.add(name)
            waiting.extend(by_name[name].inputs)
    return [node for node in program.nodes if node.name in needed]


def shapes(program):
    """The shape of every value by name."""
    values = program.inputs + program.parameters + program.nodes
    return {value.name: value.shape for value in values}


def kinds(program):
    """The kind of every value by name."""
    values = program.inputs + program.parameters + program.nodes
    return {value.name: value.kind for value in values}


def inputs_by_role(program, node):
    """[(role, name of the input)] of a node, in order."""
    roles = program.facts[node.op].roles
    return [(roles[min(place, len(roles) - 1)], name) for place, name in enumerate(node.inputs)]


def needs(program, node):
    """What a framework must have for a node: its op, and of some ops a form that not every framework has.

    "concat/axis" is side by side along another axis than the second, "add/broadcast" of values of two shapes, and
    "add/scalar" of one that has no axes.
    """
    found = [node.op]
    if node.op == "concat" and "axis" in node.attributes:
        found.append("concat/axis")
    if node.op in ("add", "subtract", "multiply", "divide"):
        known = shapes(program)
        met = {known[name] for name in node.inputs}
        found += [node.op + "/broadcast"] * (len(met) > 1) + [node.op + "/scalar"] * (len(met) > 1 and () in met)
    return found


def layer_places(program, node):
    """Places of a node's inputs where a layer keeps what it learns, or its state."""
    facts = program.facts[node.op]
    kept = facts.weights + facts.state
    return [place for place, (role, _) in enumerate(inputs_by_role(program, node)) if role in kept]


def constants(program):
    """Names of the parameters that no update and no step changes."""
    changing = {p.name for p in program.parameters if p.trainable}
    for node in program.nodes:
        state = program.facts[node.op].state
        changing.update(name for role, name in inputs_by_role(program, node) if role in state)
    return {p.name for p in program.parameters} - changing


def _read_stage(stage):
    updates = [Update(u["name"], u["loss"], list(u["parameters"]), u["optimizer"]) for u in stage["updates"]]
    return Stage(stage["name"], updates)


def _read_node(node):
    attributes = {k: tuple(v) if isinstance(v, list) else v for k, v in node["attributes"].items()}
    return Node(**dict(node, shape=tuple(node["shape"]), attributes=attributes))
