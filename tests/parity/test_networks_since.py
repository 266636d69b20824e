"""Every adapter for a framework of today, or for the last of one that has ended, on the nine networks, reduced."""

import pytest

from tests.parity.networks import NINE, name_of, proof_of, specs_of


@pytest.mark.parametrize("entry", NINE, ids=name_of)
@pytest.mark.parametrize("spec", specs_of("last", "today"), ids=name_of)
def test_a_network_is_the_same_in_every_framework(prover, spec, entry):
    proof = proof_of(prover, spec, entry)
    assert proof.passed, proof
