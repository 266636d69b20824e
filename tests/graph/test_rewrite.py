"""Is randomness switched off, and nothing else changed?"""

from netdyno.graph.check import check_programme
from netdyno.graph.model import Draw
from netdyno.graph.rewrite import without_randomness
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import find_entry, resolve


def _net() -> tuple[Net, Value]:
    net = Net(batch=2, classes=3, learning_rate=0.1)
    return net, net.input("x", (2, 4), Draw(kind="normal"))


def test_dropout_passes_its_input_on() -> None:
    net, x = _net()
    programme = without_randomness(net.programme(net.classifier(net.relu(net.dropout(net.dropout(x))), name="fc")))
    check_programme(programme)
    assert [(node.op, node.inputs[0]) for node in programme.graph.nodes[:2]] == [("relu", "x"), ("linear", "relu1")]


def test_an_output_that_was_dropped_out_is_what_went_in() -> None:
    net, x = _net()
    programme = without_randomness(net.programme(net.dropout(net.classifier(x, name="fc"))))
    check_programme(programme)
    assert programme.graph.outputs == ("fc",)


def test_a_bernoulli_draw_gives_its_probability_and_still_no_gradient() -> None:
    net, x = _net()
    programme = without_randomness(net.programme(net.classifier(net.bernoulli(net.sigmoid(x)))))
    check_programme(programme)
    node = programme.graph.nodes[1]
    assert (node.name, node.op, node.inputs, node.attributes) == ("bernoulli1", "stop_gradient", ("sigmoid1",), {})


def test_a_normal_draw_reaches_nobody_but_as_zeros() -> None:
    net, x = _net()
    programme = without_randomness(net.programme(net.classifier(net.add(x, net.normal((2, 4))))))
    check_programme(programme)
    users = [node for node in programme.graph.nodes if "normal1" in node.inputs]
    assert [(node.op, node.attributes) for node in users] == [("scale", {"factor": 0.0})]
    assert programme.graph.nodes[2].inputs == ("x", "normal1.zeros")


def test_a_network_without_chance_is_left_as_it_is() -> None:
    programme = resolve(find_entry("lenet"), 2)
    assert without_randomness(programme) == programme


def test_parameters_and_updates_stay() -> None:
    programme = resolve(find_entry("alexnet", "imagenet"), 2)
    quiet = without_randomness(programme)
    check_programme(quiet)
    assert quiet.graph.parameters == programme.graph.parameters
    assert quiet.stages == programme.stages
    assert len(quiet.graph.nodes) == len(programme.graph.nodes) - 2
