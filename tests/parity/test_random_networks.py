"""Networks that nobody wrote are equal too; and the drawing, leaving out and building of them holds for any seed."""

from random import Random

import pytest
from hypothesis import given, settings

from netdyno.frameworks.spec import find_spec
from netdyno.graph.rewrite import without_randomness
from netdyno.workloads.references import SIZES
from tests.parity.conftest import candidate_for
from tests.parity.random_layers import FEWEST_NODES, LEAST_VALUES, MOST_NODES, networks, random_network
from tests.parity.random_networks import Drawn, programme_of, smaller, without

SEEDS = range(1000, 1010)  # `make bench-alarms` draws two hundred others
PROVED = [(name, precision) for name in ("pytorch-2", "jax") for precision in ("float64", "float32")]


@pytest.fixture(scope="module")
def random_cases(prover):
    cases = [
        prover.references.case(f"seed{seed}/drawn", without_randomness(programme_of(_short_network(seed))))
        for seed in SEEDS
    ]
    prover.compute(cases, SIZES)
    return cases


@pytest.mark.parametrize(("name", "precision"), PROVED)
def test_no_random_network_is_called_wrong(prover, random_cases, name, precision):
    spec = find_spec(name)
    proofs = prover.prove(random_cases, candidate_for(spec, spec.executions[0], precision))
    assert [proof.reason or proof.difference() for proof in proofs if not proof.passed] == []


@settings(max_examples=50, deadline=None)
@given(networks)
def test_every_network_drawn_is_one_that_a_user_may_write(drawn):
    nodes = programme_of(drawn).graph.nodes
    assert FEWEST_NODES <= len(nodes) <= MOST_NODES
    normed = [node.shape for node in nodes if node.op == "batch_norm"]
    assert all(shape[0] * shape[2] * shape[3] >= LEAST_VALUES for shape in normed)


def test_the_same_seed_draws_the_same_network():
    assert random_network(Random(7)) == random_network(Random(7))
    assert random_network(Random(7)) != random_network(Random(8))


def test_a_layer_that_is_left_out_is_replaced_by_its_input():
    drawn = random_network(Random(3))
    left = without(drawn, {1})
    assert len(left.layers) == len(drawn.layers) - 1
    first = next(layer for layer in drawn.layers[1:] if 1 in layer.inputs)
    assert 0 in left.layers[drawn.layers.index(first) - 1].inputs


def test_what_is_left_of_a_network_is_shorter_and_makes_sense():
    drawn = random_network(Random(3))
    found = list(smaller(drawn, 2))
    assert found
    for left in found:
        assert len(left.layers) <= len(drawn.layers) - 1
        programme_of(left)


def _short_network(seed: int) -> Drawn:
    """The first that is soon compiled."""
    random = Random(seed)
    return next(drawn for drawn in iter(lambda: random_network(random), None) if len(drawn.layers) <= 20)
