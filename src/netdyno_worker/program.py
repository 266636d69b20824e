"""What is to be trained, as an adapter reads it: the wire form of a graph turned into named tuples."""

from collections import OrderedDict, namedtuple

from netdyno_worker.contract import Unsupported

FORMAT = 2

Input = namedtuple("Input", "name shape draw")
Parameter = namedtuple("Parameter", "name shape initial trainable")
Node = namedtuple("Node", "name op inputs shape attributes")
Update = namedtuple("Update", "name loss parameters optimizer")
Stage = namedtuple("Stage", "name updates")
# updates: those that a step makes; of the only stage, none for inference.
Program = namedtuple("Program", "inputs parameters nodes outputs stages updates")


def read_program(wire):
    """The program in a wire form; shapes and attributes that are lists become tuples."""
    if wire["format"] != FORMAT:
        raise ValueError("expected a graph of format %d, received %r" % (FORMAT, wire["format"]))
    graph, stages = wire["graph"], [_read_stage(stage) for stage in wire["stages"]]
    if len(stages) > 1:
        raise Unsupported("the worker trains one stage, received %s" % ", ".join(stage.name for stage in stages))
    return Program(
        inputs=[Input(i["name"], tuple(i["shape"]), i["draw"]) for i in graph["inputs"]],
        parameters=[
            Parameter(p["name"], tuple(p["shape"]), p["initial"], p["trainable"]) for p in graph["parameters"]
        ],
        nodes=[_read_node(n) for n in graph["nodes"]],
        outputs=list(graph["outputs"]),
        stages=stages,
        updates=stages[0].updates if stages else [],
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


def _read_stage(stage):
    updates = [Update(u["name"], u["loss"], list(u["parameters"]), u["optimizer"]) for u in stage["updates"]]
    return Stage(stage["name"], updates)


def _read_node(node):
    attributes = {k: tuple(v) if isinstance(v, list) else v for k, v in node["attributes"].items()}
    return Node(node["name"], node["op"], list(node["inputs"]), tuple(node["shape"]), attributes)
