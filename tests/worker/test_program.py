"""What does a program say of its values and nodes: kinds, and the inputs where a layer keeps what it learns?"""

import unittest

from sketch import Sketch

from netdyno_worker.program import kinds, layer_places, needs, read_program

WINDOW = {"strides": [1, 1], "padding": [0, 0, 0, 0], "groups": 1}


class Kinds(unittest.TestCase):
    def test_inputs_parameters_and_nodes_all_have_one(self):
        known = kinds(_convolved())
        self.assertEqual((known["x"], known["labels"]), ("image", "plain"))
        self.assertEqual((known["conv.weight"], known["conv.bias"]), ("kernel", "plain"))
        self.assertEqual((known["conv"], known["flat"]), ("image", "plain"))

    def test_four_axes_alone_make_no_image(self):
        sketch = Sketch()
        sketch.input("x", [2, 3, 4, 5])
        sketch.graph["inputs"][0]["kind"] = "plain"
        self.assertEqual(kinds(read_program(sketch.wire("x"))), {"x": "plain"})


class LayerPlaces(unittest.TestCase):
    def test_weight_and_bias_are_kept_and_the_data_is_not(self):
        self.assertEqual(_places(_convolved()), {"conv": [1, 2], "flat": []})

    def test_a_bias_that_is_left_out_has_no_place(self):
        sketch = Sketch()
        names = [sketch.input("x", [2, 3]), sketch.parameter("weight", [4, 3])]
        sketch.node("y", "linear", names, [2, 4])
        self.assertEqual(_places(read_program(sketch.wire("y"))), {"y": [1]})

    def test_running_statistics_are_kept_too(self):
        sketch = Sketch()
        names = [sketch.input("x", [2, 3]), *sketch.state("norm", 3)]
        sketch.node("y", "batch_norm", names, [2, 3], epsilon=1e-3, momentum=0.1)
        self.assertEqual(_places(read_program(sketch.wire("y"))), {"y": [1, 2, 3, 4]})

    def test_parameters_that_are_used_as_values_are_not_kept(self):
        sketch = Sketch()
        names = [sketch.parameter(name, [2, 3]) for name in "abc"]
        sketch.node("sum", "add", names[:2], [2, 3])
        sketch.node("row", "concat", names, [2, 9])
        self.assertEqual(_places(read_program(sketch.wire("row"))), {"sum": [], "row": []})


class Needs(unittest.TestCase):
    def test_a_form_of_an_op_that_not_every_framework_has_is_a_need_of_its_own(self):
        sketch = Sketch()
        for name, shape in (("a", [2, 3]), ("row", [3]), ("one", [])):
            sketch.parameter(name, shape)
        sketch.node("same", "add", ["a", "a"], [2, 3])
        sketch.node("rows", "add", ["a", "row"], [2, 3])
        sketch.node("shifted", "subtract", ["a", "one"], [2, 3])
        sketch.node("wide", "concat", ["a", "a"], [2, 6])
        sketch.node("long", "concat", ["a", "a"], [4, 3], axis=0)
        program = read_program(sketch.wire("long"))
        self.assertEqual(
            {node.name: needs(program, node) for node in program.nodes},
            {
                "same": ["add"],
                "rows": ["add", "add/broadcast"],
                "shifted": ["subtract", "subtract/broadcast", "subtract/scalar"],
                "wide": ["concat"],
                "long": ["concat", "concat/axis"],
            },
        )


def _places(program):
    return {node.name: layer_places(program, node) for node in program.nodes}


def _convolved():
    sketch = Sketch()
    sketch.input("x", [2, 3, 4, 5])
    sketch.input("labels", [2], 0, 6, "integers")
    names = ["x", sketch.parameter("conv.weight", [6, 3, 1, 1]), sketch.parameter("conv.bias", [6])]
    sketch.node("conv", "convolution", names, [2, 6, 4, 5], **WINDOW)
    sketch.node("flat", "flatten", ["conv"], [2, 120])
    return read_program(sketch.wire("flat"))


if __name__ == "__main__":
    unittest.main()
