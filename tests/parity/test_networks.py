"""Every adapter on every network of the zoo, at a reduced size, and what happens when one gradient is wrong."""

from dataclasses import replace
from pathlib import Path

import pytest

from netdyno.frameworks.spec import find_spec, read_spec
from netdyno.graph.check import check_training
from netdyno.harness.proof import first_wrong_node
from netdyno.results.proof import Proof
from netdyno.zoo.catalog import entries, find_entry, resolve
from tests.parity.conftest import candidate_for, proved_specs

WRONG = Path(__file__).parent / "wrong"
BATCH = 8
NINE = entries()[:9]  # of the thesis; the two later forms add no op, and `netdyno verify --all` has them


_proved: dict[str, dict[str, Proof]] = {}


def _proofs(prover, spec):
    """Every network in one process of the framework, once."""
    if spec.name not in _proved:
        candidate = candidate_for(spec, spec.executions[0])
        cases = [prover.case((e.network, e.dataset.name), resolve(e, BATCH, image_size=e.verify_size)) for e in NINE]
        _proved[spec.name] = {proof.case(): proof for proof in prover.prove(cases, candidate)}
    return _proved[spec.name]


@pytest.mark.parametrize("entry", NINE, ids=lambda entry: f"{entry.network}-{entry.dataset.name}")
@pytest.mark.parametrize("spec", proved_specs(), ids=lambda spec: spec.name)
def test_a_network_is_the_same_in_every_framework(prover, spec, entry):
    proof = _proofs(prover, spec)[f"{entry.network}/{entry.dataset.name}"]
    assert proof.passed, proof


def test_one_wrong_gradient_is_found_and_its_node_named(prover):
    """The adapter `wrong` is the reference with the gradient of convolution weights 5 % too large in conv2."""
    spec = read_spec(WRONG / "wrong.toml")
    entry = find_entry("lenet", "mnist")
    training = resolve(entry, BATCH)
    (proof,) = prover.prove([prover.case(("lenet", "mnist"), training)], replace(_reference(), spec=spec))
    assert not proof.passed
    assert proof.worst_node == "conv2"
    assert proof.gradients == pytest.approx(0.05, rel=1e-3)
    assert proof.outputs < 1e-3


def test_a_wrong_value_is_traced_to_the_node_that_makes_it(prover):
    spec = read_spec(WRONG / "wrong-value.toml")
    entry = find_entry("lenet", "mnist")
    case = prover.case(("lenet", "mnist"), resolve(entry, BATCH))
    (proof,) = prover.prove([case], replace(_reference(), spec=spec))
    assert not proof.passed
    assert proof.worst_node == "mean_pool2"


def test_the_first_wrong_node_is_the_one_nearest_the_loss():
    training = resolve(find_entry("lenet", "mnist"), 2)
    check_training(training)
    keys = [f"train/{name}" for name in training.updates[0].parameters]
    wrong_up_to_conv2 = {key: 1.0 if "conv" in key else 1e-7 for key in keys}
    assert first_wrong_node(training, {"gradients": wrong_up_to_conv2}, 1e-3) == "conv2"


def _reference():
    return candidate_for(find_spec("reference"), "eager")
