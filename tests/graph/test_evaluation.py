"""Does the network for evaluation answer as one with running statistics and without chance should?"""

import math
from typing import Any

import numpy as np
import pytest

from netdyno.graph.check import check_training
from netdyno.graph.evaluation import evaluation_of, needs_other_graph
from netdyno.graph.model import Draw, Training
from netdyno.graph.wire import to_wire
from netdyno.zoo.builder import Net
from netdyno.zoo.catalog import entries, find_entry, resolve
from netdyno_worker.adapters import reference
from netdyno_worker.contract import Job
from netdyno_worker.evaluate import affine_values
from netdyno_worker.program import Program, read_program, shapes

EPSILON = 1e-3


def _network(*, flat: bool) -> Training:
    """Batch norm, of images or of vectors, then dropout and a classifier."""
    net = Net(batch=4, classes=3, learning_rate=0.1)
    images = net.input("images", (4, 2, 3, 3), Draw(kind="normal"))
    x = net.batch_norm(net.flatten(images) if flat else images, epsilon=EPSILON, name="norm")
    x = net.dropout(x if flat else net.flatten(x), 0.5)
    return net.training(net.classifier(x, name="fc"))


def _values(program: Program) -> dict[str, Any]:
    """Anything, with variances over 0."""
    state = np.random.RandomState(3)
    return {p.name: state.uniform(0.5, 2.0, size=p.shape).astype(np.float32) for p in program.parameters}


def _answer(program: Program, values: dict[str, Any], batch: dict[str, Any]) -> Any:
    job = Job(program, "cpu", "float32", "eager", 1, values.__getitem__, 1)
    trainer = reference.build(job)
    trainer.feed(batch)
    return trainer.read("outputs")["fc"]


@pytest.mark.parametrize("flat", [False, True])
def test_it_answers_as_batch_norm_by_hand_with_running_statistics(flat: bool) -> None:
    training = _network(flat=flat)
    evaluation = evaluation_of(training)
    check_training(evaluation.training)
    trained, program = read_program(to_wire(training)), read_program(to_wire(evaluation.training))
    values = _values(trained)
    table = [{name: getattr(row, name) for name in row.__slots__} for row in evaluation.affine]
    images = np.random.RandomState(5).normal(size=(4, 2, 3, 3)).astype(np.float32)
    batch = {"images": images, "labels": np.zeros(4, np.int32)}
    found = _answer(program, {**values, **affine_values(table, values, shapes(program))}, batch)

    x = images.reshape(4, -1) if flat else images
    gamma, beta, mean, variance = (
        values[f"norm.{role}"].reshape((1, -1) + (1,) * (x.ndim - 2)).astype(np.float64)
        for role in ("scale", "shift", "running_mean", "running_variance")
    )
    normal = (x - mean) / np.sqrt(variance + EPSILON) * gamma + beta
    expected = normal.reshape(4, -1) @ values["fc.weight"].T.astype(np.float64) + values["fc.bias"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_batch_norm_is_a_convolution_with_a_group_for_each_channel() -> None:
    evaluation = evaluation_of(_network(flat=False))
    node = evaluation.training.graph.nodes[0]
    assert (node.name, node.op, node.attributes["groups"]) == ("norm", "convolution", 2)
    (row,) = evaluation.affine
    assert (row.scale, row.gamma, row.variance) == ("norm.affine_scale", "norm.scale", "norm.running_variance")
    assert row.epsilon == EPSILON
    assert {p.name for p in evaluation.training.graph.parameters} == {row.scale, row.shift, "fc.weight", "fc.bias"}


def test_its_update_moves_as_little_as_possible() -> None:
    (update,) = evaluation_of(_network(flat=False)).training.updates
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
