"""Does a proof see a small mistake? A few of the catalogue that `make bench-proof` tries as a whole."""

import sys
from pathlib import Path

import pytest

from netdyno.frameworks.spec import find_spec
from tests.parity.conftest import candidate_for

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from proof import mutations_of
from proof_networks import NETWORKS
from proof_runs import MEASURED, ORACLE, Job, run
from proof_verdicts import old_rule_catches, sight

FRAMEWORK, EXACTLY = "pytorch-2", "float64"
CAUGHT = (
    ("normalised", "LRN: alpha", "×5"),
    ("normalised", "LRN: k", "+1e-4"),
    ("normalised", "flatten: channels last", ""),
    ("lenet/mnist", "momentum", "0.89"),
    ("lenet/mnist", "learning rate", "×1.01"),
    ("lenet/mnist", "gradient after a tanh", "×0.99"),
    ("lenet/mnist", "Nesterov momentum", ""),
)


@pytest.fixture(scope="module")
def mutated(prover):
    wanted = {name for name, _, _ in CAUGHT}
    networks = [network for network in NETWORKS if network.name in wanted]
    found = [each for network in networks for each in mutations_of(network, prover)]
    keys = {(name, f"{kind} {strength}") for name, kind, strength in CAUGHT}
    return [each for each in found if each.mutation is None or each.key in keys]


@pytest.fixture(scope="module")
def found(prover, mutated):
    """What the oracle and a framework say of all of them, in both precisions."""
    candidate_for(find_spec(FRAMEWORK), "eager")  # skips where it is not installed
    jobs = [(ORACLE, EXACTLY), (FRAMEWORK, EXACTLY), (FRAMEWORK, MEASURED)]
    made = [run(Job(framework=name, precision=precision, mutated=mutated), prover) for name, precision in jobs]
    return {key: event for each in made for key, event in each.items()}


@pytest.mark.parametrize("precision", [EXACTLY, MEASURED])
def test_subtle_mistakes_are_visible_and_caught_and_the_right_network_passes(mutated, found, precision):
    assert len(mutated) == len(CAUGHT) + 2
    for each in mutated:
        seen = sight(each.right, precision, found[ORACLE, EXACTLY, each.key], found[FRAMEWORK, precision, each.key])
        assert (seen.visible, seen.caught) == (each.mutation is not None,) * 2, (each.key, seen)


def test_the_old_rule_let_most_of_them_pass(mutated, found):
    caught = [each.key[1] for each in mutated if old_rule_catches(each.right, found[FRAMEWORK, MEASURED, each.key])]
    assert "momentum 0.89" not in caught
    assert "LRN: k +1e-4" not in caught
