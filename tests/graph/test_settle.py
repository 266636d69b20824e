"""Is chance switched off, and nothing else changed?"""

from netdyno.graph.check import check_training
from netdyno.graph.model import Draw
from netdyno.graph.settle import settled
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import find_entry, resolve


def _net() -> tuple[Net, Value]:
    net = Net(batch=2, classes=3, learning_rate=0.1)
    return net, net.input("x", (2, 4), Draw(kind="normal"))


def test_dropout_passes_its_input_on() -> None:
    net, x = _net()
    training = settled(net.training(net.classifier(net.relu(net.dropout(net.dropout(x))), name="fc")))
    check_training(training)
    assert [(node.op, node.inputs[0]) for node in training.graph.nodes[:2]] == [("relu", "x"), ("linear", "relu1")]


def test_an_output_that_was_dropped_out_is_what_went_in() -> None:
    net, x = _net()
    training = settled(net.training(net.dropout(net.classifier(x, name="fc"))))
    check_training(training)
    assert training.graph.outputs == ("fc",)


def test_a_bernoulli_draw_gives_its_probability_and_still_no_gradient() -> None:
    net, x = _net()
    training = settled(net.training(net.classifier(net.bernoulli(net.sigmoid(x)))))
    check_training(training)
    node = training.graph.nodes[1]
    assert (node.name, node.op, node.inputs, node.attributes) == ("bernoulli1", "stop_gradient", ("sigmoid1",), {})


def test_a_normal_draw_reaches_nobody_but_as_zeros() -> None:
    net, x = _net()
    training = settled(net.training(net.classifier(net.add(x, net.normal((2, 4))))))
    check_training(training)
    users = [node for node in training.graph.nodes if "normal1" in node.inputs]
    assert [(node.op, node.attributes) for node in users] == [("scale", {"factor": 0.0})]
    assert training.graph.nodes[2].inputs == ("x", "normal1.zeros")


def test_a_network_without_chance_is_left_as_it_is() -> None:
    training = resolve(find_entry("lenet"), 2)
    assert settled(training) == training


def test_parameters_and_updates_stay() -> None:
    training = resolve(find_entry("alexnet", "imagenet"), 2)
    quiet = settled(training)
    check_training(quiet)
    assert quiet.graph.parameters == training.graph.parameters
    assert quiet.updates == training.updates
    assert len(quiet.graph.nodes) == len(training.graph.nodes) - 2
