"""Does a composite op, written in primitives, stay the same op?"""

import sys
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.check import check_programme
from netdyno.graph.lower import DECOMPOSITIONS, composite_forms, lowered
from netdyno.graph.model import Draw, Programme
from netdyno.graph.ops import OPS
from netdyno.graph.wire import from_wire, to_wire
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import Entry, entries, find_entry, resolve
from netdyno_worker.adapters.reference import trainer as reference
from netdyno_worker.contract import Job
from netdyno_worker.feed.weights import Weights
from netdyno_worker.program import constants, read_program

sys.path.insert(0, str(Path(__file__).parents[1] / "worker"))
from small_programs import COMPOSITES

COMPOSITE = {name for name, op in OPS.items() if op.composite}
NONE: frozenset[str] = frozenset()


def _net() -> tuple[Net, Value]:
    net = Net(batch=2, classes=3, learning_rate=0.1)
    return net, net.input("x", (2, 3, 4, 5), Draw(kind="normal"), kind="image")


def _value(programme: Programme, name: str, x: np.ndarray[Any, Any]) -> Any:
    program = read_program(to_wire(replace(programme, graph=replace(programme.graph, outputs=(name,)))))
    trainer = reference.build(Job(program, "cpu", "float32", "eager", 1, Weights(program, 7).initial, 7))
    trainer.feed({"x": x, "labels": np.zeros(len(x), np.int32)})
    return trainer.read("outputs")[name]


def test_every_composite_has_a_decomposition_and_nothing_else_has() -> None:
    assert set(DECOMPOSITIONS) == COMPOSITE


@pytest.mark.parametrize("name", COMPOSITES)
def test_a_lowered_program_is_sound_and_has_only_primitives(name: str) -> None:
    programme = from_wire(COMPOSITES[name])
    low = lowered(programme, NONE)
    check_programme(low)
    assert not COMPOSITE & {node.op for node in low.graph.nodes}
    assert low.stages == programme.stages
    shapes = low.graph.shapes()
    assert {node.name: shapes[node.name] for node in programme.graph.nodes} == {
        node.name: node.shape for node in programme.graph.nodes
    }


@pytest.mark.parametrize("name", COMPOSITES)
def test_what_is_fused_stays_as_it_is(name: str) -> None:
    programme = from_wire(COMPOSITES[name])
    assert lowered(programme, frozenset(COMPOSITE)) == programme


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.network}-{entry.dataset}")
def test_every_network_can_be_lowered_and_learns_the_same_parameters(entry: Entry) -> None:
    programme = resolve(entry, 2)
    low = lowered(programme, NONE)
    check_programme(low)
    assert low.graph.parameters[: len(programme.graph.parameters)] == programme.graph.parameters
    assert low.graph.parameter_count() == programme.graph.parameter_count()
    added = low.graph.parameters[len(programme.graph.parameters) :]
    assert constants(read_program(to_wire(low))) == {parameter.name for parameter in added}


def test_a_record_says_which_composites_a_kernel_computes_and_which_are_lowered() -> None:
    network = resolve(find_entry("vit-b16", "imagenet"), 2, {"layers": 1})
    assert composite_forms(network, NONE) == {"lowered": "attention gelu layer_norm"}
    assert composite_forms(network, frozenset({"gelu", "lstm"})) == {
        "kernels": "gelu",
        "lowered": "attention layer_norm",
    }
    assert composite_forms(resolve(find_entry("rbm", "mnist"), 2, {}), NONE) == {}


def test_the_digest_of_weights_does_not_depend_on_what_is_fused() -> None:
    programme = resolve(find_entry("googlenet", "imagenet"), 1)
    small = replace(programme, graph=replace(programme.graph, parameters=programme.graph.parameters[:4]))
    assert sum(prod(parameter.shape) for parameter in small.graph.parameters) < 1e6
    nodes = tuple(node for node in programme.graph.nodes if node.op == "local_response_norm")[:1]
    images = replace(programme.graph.inputs[0], name=nodes[0].inputs[0], shape=nodes[0].shape)
    small = Programme(graph=replace(small.graph, inputs=(images,), nodes=nodes, outputs=()))
    digests = {Weights(read_program(to_wire(lowered(small, fused))), 1).digest() for fused in (NONE, COMPOSITE)}
    assert len(digests) == 1


def test_local_response_norm_divides_by_its_neighbours() -> None:
    net = Net(batch=1, classes=3, learning_rate=0.1)
    x = net.input("x", (1, 3, 1, 1), Draw(kind="normal"), kind="image")
    y = net.local_response_norm(x, size=3, alpha=0.3, beta=0.75, k=2.0, name="y")
    programme = lowered(net.programme(net.classifier(net.flatten(y))), NONE)
    found = _value(programme, "y", np.array([1.0, 2.0, 3.0]).reshape((1, 3, 1, 1)))
    np.testing.assert_allclose(found.ravel(), [1 / 2.5**0.75, 2 / 3.4**0.75, 3 / 3.3**0.75], 1e-12)


def test_local_response_norm_has_float64_s_accuracy_for_any_constant() -> None:
    net, x = _net()
    y = net.local_response_norm(x, size=5, alpha=0.1, beta=0.7, k=1.1, name="y")
    values = np.random.RandomState(1).normal(size=(2, 3, 4, 5))
    expected = values / (1.1 + 0.1 / 5 * (values**2).sum(axis=1, keepdims=True)) ** 0.7
    programme = lowered(net.programme(net.classifier(net.flatten(y))), NONE)
    np.testing.assert_allclose(_value(programme, "y", values), expected, 1e-13)


def test_global_mean_pool_is_the_mean_of_each_map() -> None:
    net, x = _net()
    programme = lowered(net.programme(net.classifier(net.global_mean_pool(x, name="y"))), NONE)
    values = np.random.RandomState(1).normal(size=(2, 3, 4, 5))
    np.testing.assert_allclose(_value(programme, "y", values), values.mean(axis=(2, 3)), 1e-13)


def test_a_name_that_a_part_needs_is_refused_if_it_is_in_use() -> None:
    net, x = _net()
    y = net.local_response_norm(net.relu(x, name="y.power"), name="y")
    programme = net.programme(net.classifier(net.flatten(y)))
    with pytest.raises(NetdynoError, match=r"'y\.power': expected a name free for a part of 'y'"):
        lowered(programme, NONE)


def test_the_gradient_of_relu6_at_zero_is_zero() -> None:
    assert [node.op for node in lowered(from_wire(COMPOSITES["relu6/images"]), NONE).graph.nodes][:2] == [
        "relu",
        "clamp",
    ]


def test_attention_sees_what_came_before_and_nothing_after() -> None:
    net = Net(batch=1, classes=3, learning_rate=0.1)
    x = net.input("x", (1, 1, 3, 2), Draw(kind="normal"))
    y = net.attention(x, x, x, causal=True, name="y")
    programme = lowered(net.programme(net.classifier(net.flatten(y))), NONE)
    values = np.random.RandomState(1).normal(size=(1, 1, 3, 2))
    found, rows = _value(programme, "y", values)[0, 0], values[0, 0]
    for place in range(3):
        powers = np.exp(rows[: place + 1] @ rows[place] / np.sqrt(2))
        np.testing.assert_allclose(found[place], powers @ rows[: place + 1] / powers.sum(), 1e-12)


def _hidden_states(op: str, x: np.ndarray[Any, Any]) -> tuple[Any, dict[str, Any]]:
    """What a layer of two units gives, and its weights by part."""
    net = Net(batch=x.shape[0], classes=3, learning_rate=0.1)
    value = net.input("x", x.shape, Draw(kind="normal"), kind="sequence")
    y = getattr(net, op)(value, 2, name="y")
    programme = lowered(net.programme(net.classifier(net.flatten(y))), NONE)
    weights = Weights(read_program(to_wire(programme)), 7)
    parts = ("input_weight", "hidden_weight", "input_bias", "hidden_bias")
    return _value(programme, "y", x), {part: weights.initial(f"y.{part}").astype(float) for part in parts}


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def test_an_lstm_forgets_adds_and_shows() -> None:
    x = np.random.RandomState(1).normal(size=(3, 4, 5))
    found, w = _hidden_states("lstm", x)
    hidden = memory = np.zeros((3, 2))
    for step in range(4):
        gates = x[:, step] @ w["input_weight"].T + w["input_bias"] + hidden @ w["hidden_weight"].T + w["hidden_bias"]
        take, forget, new, show = np.split(gates, 4, axis=1)
        memory = _sigmoid(forget) * memory + _sigmoid(take) * np.tanh(new)
        hidden = _sigmoid(show) * np.tanh(memory)
        np.testing.assert_allclose(found[:, step], hidden, 1e-12)


def test_a_gru_keeps_or_replaces() -> None:
    x = np.random.RandomState(1).normal(size=(3, 4, 5))
    found, w = _hidden_states("gru", x)
    hidden = np.zeros((3, 2))
    for step in range(4):
        given = np.split(x[:, step] @ w["input_weight"].T + w["input_bias"], 3, axis=1)
        state = np.split(hidden @ w["hidden_weight"].T + w["hidden_bias"], 3, axis=1)
        reset, update = _sigmoid(given[0] + state[0]), _sigmoid(given[1] + state[1])
        hidden = (1 - update) * np.tanh(given[2] + reset * state[2]) + update * hidden
        np.testing.assert_allclose(found[:, step], hidden, 1e-12)


def test_layer_norm_has_float64_s_accuracy_also_where_rows_hardly_vary() -> None:
    net = Net(batch=2, classes=3, learning_rate=0.1)
    y = net.layer_norm(net.input("x", (2, 4), Draw(kind="normal")), epsilon=1e-5, name="y")
    programme = lowered(net.programme(net.classifier(y)), NONE)
    values = 1e-3 * np.random.RandomState(1).normal(size=(2, 4))
    expected = (values - values.mean(1, keepdims=True)) / np.sqrt(values.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(_value(programme, "y", values), expected, 1e-12)
