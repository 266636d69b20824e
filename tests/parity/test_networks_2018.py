"""Every adapter for a framework of 2018 on the nine networks, reduced."""

import pytest

from tests.parity.networks import NINE, name_of, proof_of, specs_of


@pytest.mark.parametrize("entry", NINE, ids=name_of)
@pytest.mark.parametrize("spec", specs_of("2018"), ids=name_of)
def test_a_network_is_the_same_in_every_framework(prover, spec, entry):
    proof = proof_of(prover, spec, entry)
    assert proof.passed, proof
