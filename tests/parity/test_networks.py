"""What happens when one gradient, or one value, is wrong; and that every framework is proved somewhere."""

from dataclasses import replace
from pathlib import Path

import pytest

from netdyno.frameworks.spec import find_spec, read_spec
from netdyno.graph.check import check_programme
from netdyno.results.proof import Tensor
from netdyno.workloads.judgement import first_wrong_node
from netdyno.zoo.catalog import find_entry, resolve
from tests.parity.conftest import candidate_for, proved_specs
from tests.parity.networks import BATCH, specs_of

WRONG = Path(__file__).parent / "wrong"


def test_every_framework_has_its_nine_networks_proved():
    assert sorted(specs_of("2018", "last", "today"), key=lambda spec: spec.name) == proved_specs()


def test_one_wrong_gradient_is_found_and_its_node_named(prover):
    """The adapter `wrong` is the reference with the gradient of convolution weights 5 % too large in conv2."""
    spec = read_spec(WRONG / "wrong.toml")
    entry = find_entry("lenet", "mnist")
    programme = resolve(entry, BATCH)
    (proof,) = prover.prove([prover.case(("lenet", "mnist"), programme)], replace(_reference(), spec=spec))
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
    programme = resolve(find_entry("lenet", "mnist"), 2)
    check_programme(programme)
    nodes = [node.name for node in programme.graph.nodes if node.name.startswith("conv")]
    shared = {"kind": "gradients", "size": 1.0, "off_by": 1.0, "limit": 1e-6}
    wrong = [Tensor(name=f"train/{node}.weight", node=node, **shared) for node in nodes]
    assert first_wrong_node(programme, wrong) == "conv2"


def _reference():
    return candidate_for(find_spec("reference"), "eager")
