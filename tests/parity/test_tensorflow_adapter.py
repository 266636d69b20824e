"""How values lie in memory for TensorFlow: what spares a step from turning images round must not be lost unnoticed.

Whether the right thing is computed is the generic parity test's question.
"""

import numpy as np
from small_programs import Sketch

from netdyno.graph.wire import to_wire
from netdyno.zoo.catalog import find_entry, resolve
from netdyno_worker.adapters.tensorflow.forms import Forms, laid, restored
from netdyno_worker.program import read_program


def _flattening(*outputs):
    """An image that a relu passes on to a linear layer."""
    sketch = Sketch()
    sketch.input("image", [2, 3, 4, 5])
    sketch.parameter("weight", [7, 60])
    sketch.node("flat", "flatten", ["image"], [2, 60])
    sketch.node("passed", "relu", ["flat"], [2, 60])
    sketch.node("y", "linear", ["passed", "weight"], [2, 7])
    return Forms(read_program(sketch.wire(*outputs)))


def test_a_flattened_image_stays_as_it_lies_before_a_linear_layer():
    forms = _flattening("y")
    image, weight = np.arange(120.0).reshape(2, 3, 4, 5), np.arange(420.0).reshape(7, 60)
    rows = laid(image, forms.of["image"], np).reshape(2, 60)
    assert np.array_equal(rows, laid(image.reshape(2, 60), forms.of["passed"], np))
    assert np.array_equal(rows @ laid(weight, forms.of["weight"], np), image.reshape(2, 60) @ weight.T)


def test_a_flattened_image_that_is_an_output_has_the_order_of_the_graph():
    assert _flattening("y", "passed").of["flat"].axes is None


def test_every_form_can_be_undone():
    program = read_program(to_wire(resolve(find_entry("lenet", "mnist"), 2)))
    forms = Forms(program)
    for parameter in program.parameters:
        value = np.random.RandomState(0).uniform(size=parameter.shape)
        placed = laid(value, forms.of[parameter.name], np)
        assert placed.shape == forms.of[parameter.name].lies
        assert np.array_equal(restored(placed, forms.of[parameter.name], np), value)


def test_no_parameter_of_the_zoo_is_turned_round_in_a_step():
    for network, dataset in (("lenet", "mnist"), ("alexnet", "imagenet"), ("vgg16", "cifar10")):
        program = read_program(to_wire(resolve(find_entry(network, dataset), 2)))
        forms = Forms(program)
        for node in program.nodes:
            for place, name in enumerate(node.inputs):
                assert forms.wanted(node, place) == forms.of[name], f"{network}: {node.name} turns {name}"


def test_four_axes_that_are_no_image_stay_as_in_the_graph():
    sketch = Sketch()
    sketch.input("x", [2, 3, 4, 5])
    wire = sketch.wire("x")
    wire["graph"]["inputs"][0]["kind"] = "plain"
    assert Forms(read_program(wire)).of["x"].lies == (2, 3, 4, 5)
