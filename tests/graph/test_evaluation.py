"""Does the network for evaluation answer as one with running statistics and without chance should?"""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from netdyno.graph.check import check_training
from netdyno.graph.evaluation import evaluation_of, needs_other_graph
from netdyno.graph.model import Draw, Training
from netdyno.graph.wire import to_wire
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import entries, find_entry, resolve
from netdyno_worker.adapters import reference
from netdyno_worker.contract import Job
from netdyno_worker.evaluator import folded_values
from netdyno_worker.program import read_program

EPSILON = 1e-3
NETWORKS = {
    "norm of a convolution": lambda net, x: net.flatten(_norm(net, net.convolution(x, 5, 2, stride=2, pad=1))),
    "norm of a convolution without bias": lambda net, x: net.flatten(
        _norm(net, net.convolution(x, 5, 2, bias=False))
    ),
    "norm of a matrix": lambda net, x: _norm(net, net.linear(net.flatten(x), 5)),
    "norm of images": lambda net, x: net.flatten(_norm(net, x)),
    "norm of vectors": lambda net, x: _norm(net, net.flatten(x)),
}


def _norm(net: Net, x: Value) -> Value:
    return net.batch_norm(x, epsilon=EPSILON, name="norm")


def _network(name: str) -> Training:
    """With dropout and a classifier behind."""
    net = Net(batch=4, classes=3, learning_rate=0.1)
    images = net.input("images", (4, 2, 3, 3), Draw(kind="normal"))
    return net.training(net.classifier(net.dropout(NETWORKS[name](net, images), 0.5), name="fc"))


def _answer(training: Training, values: dict[str, Any], output: str, batch: dict[str, Any]) -> Any:
    graph = replace(training.graph, outputs=(output,))
    program = read_program(to_wire(replace(training, graph=graph)))
    trainer = reference.build(Job(program, "cpu", "float32", "eager", 1, values.__getitem__, 1))
    trainer.feed(batch)
    return trainer.read("outputs")[output]


@pytest.mark.parametrize("name", NETWORKS)
def test_it_answers_as_batch_norm_by_hand_with_running_statistics(name: str) -> None:
    training, evaluation = _network(name), evaluation_of(_network(name))
    check_training(evaluation.training)
    state = np.random.RandomState(3)
    values = {p.name: state.uniform(0.5, 2, size=p.shape).astype(np.float32) for p in training.graph.parameters}
    images = state.normal(size=(4, 2, 3, 3)).astype(np.float32)
    batch = {"images": images, "labels": np.zeros(4, np.int32)}
    table = [asdict(row) for row in evaluation.folded]
    folded = folded_values(table, values, evaluation.training.graph.shapes())
    found = _answer(evaluation.training, {**values, **folded}, "fc", batch)

    (norm,) = (node for node in training.graph.nodes if node.op == "batch_norm")
    x = images if norm.inputs[0] == "images" else _answer(training, values, norm.inputs[0], batch)
    gamma, beta, mean, variance = (
        values[name].reshape((1, -1) + (1,) * (x.ndim - 2)).astype(np.float64) for name in norm.inputs[1:]
    )
    normal = (x - mean) / np.sqrt(variance + EPSILON) * gamma + beta
    expected = normal.reshape(4, -1) @ values["fc.weight"].T.astype(np.float64) + values["fc.bias"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_batch_norm_takes_the_convolution_before_it_in() -> None:
    evaluation = evaluation_of(_network("norm of a convolution"))
    node = evaluation.training.graph.nodes[0]
    assert (node.name, node.op, node.attributes["strides"]) == ("norm", "convolution", (2, 2))
    (row,) = evaluation.folded
    assert (row.old_weight, row.old_bias, row.gamma) == ("conv1.weight", "conv1.bias", "norm.scale")
    assert (row.mean, row.variance, row.epsilon) == ("norm.running_mean", "norm.running_variance", EPSILON)
    assert {p.name for p in evaluation.training.graph.parameters} == {row.weight, row.bias, "fc.weight", "fc.bias"}


def test_a_convolution_that_others_read_too_stays() -> None:
    net = Net(batch=2, classes=3, learning_rate=0.1)
    x = net.convolution(net.input("x", (2, 2, 3, 3), Draw(kind="normal")), 4, 1)
    training = net.training(net.classifier(net.flatten(net.add(_norm(net, x), x)), name="fc"))
    evaluation = evaluation_of(training)
    check_training(evaluation.training)
    assert [node.name for node in evaluation.training.graph.nodes[:2]] == ["conv1", "norm"]
    assert evaluation.folded[0].old_weight is None


def test_its_update_moves_as_little_as_possible() -> None:
    (update,) = evaluation_of(_network("norm of images")).training.updates
    assert (update.parameters, update.optimizer.kind) == (("fc.bias",), "sgd")


def test_an_output_that_was_dropped_out_is_what_went_in() -> None:
    net = Net(batch=2, classes=3, learning_rate=0.1)
    x = net.input("x", (2, 4), Draw(kind="normal"))
    training = net.training(net.dropout(net.classifier(x, name="fc")))
    assert evaluation_of(training).training.graph.outputs == ("fc",)


def test_a_network_without_chance_and_batch_norm_answers_itself() -> None:
    assert not needs_other_graph(resolve(find_entry("lenet"), 2))


@pytest.mark.parametrize("network", ["alexnet-owt", "resnet50", "googlenet-bn"])
def test_dropout_or_batch_norm_need_another_graph(network: str) -> None:
    assert needs_other_graph(resolve(find_entry(network), 2))


@pytest.mark.parametrize("entry", entries("images"), ids=lambda entry: f"{entry.network}-{entry.dataset.name}")
def test_every_network_of_images_has_a_sound_one_for_evaluation(entry: Any) -> None:
    evaluation = evaluation_of(resolve(entry, 2))
    check_training(evaluation.training)
    ops = {node.op for node in evaluation.training.graph.nodes}
    assert not ops & {"batch_norm", "dropout", "bernoulli"}
    assert (
        math.prod(evaluation.training.graph.shapes()[evaluation.training.graph.outputs[0]])
        == 2 * entry.dataset.classes
    )
