"""How a program about one op is written: its operands are parameters, and its value becomes a loss."""

from sketch import MOMENTUM, Sketch

SIDE = (2, 4, 6, 5)  # images that are not square: two of four channels


def case(op, operands, result, **attributes):
    """`operands` are (role, shape[, low, high]); each becomes a parameter, so that its gradient is tested."""
    sketch = Sketch()
    names = [sketch.parameter(*operand) for operand in operands]
    sketch.node("y", op, names, result, **attributes)
    return finish(sketch, result)


def finish(sketch, shape, optimizer=MOMENTUM):
    """Turn `y` into a loss in which every element has its own weight and its own target."""
    sketch.input("weighting", shape, 0.5, 1.5)
    sketch.input("target", shape)
    sketch.node("weighted", "multiply", ["y", "weighting"], shape)
    for value in sketch.graph["inputs"][-2:] + sketch.graph["nodes"][-1:]:
        value["kind"] = sketch.graph["nodes"][-2]["kind"]
    sketch.node("loss", "mean_squared_error", ["weighted", "target"], [])
    sketch.update("loss", optimizer)
    return sketch.wire("y")


def loss(op, first, second):
    sketch = Sketch()
    names = [sketch.parameter(*first)]
    names.append(sketch.parameter(*second) if len(second) < 5 else sketch.input(*second))
    sketch.node("loss", op, names, [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("loss")


def plain(wire):
    """The same of plain values: four axes do not make an image."""
    for part in ("inputs", "parameters", "nodes"):
        for value in wire["graph"][part]:
            value["kind"] = "plain"
            if "kind" in value.get("attributes", ()):
                value["attributes"]["kind"] = "plain"
    return wire
