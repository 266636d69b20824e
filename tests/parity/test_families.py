"""Every adapter on the networks that are no classifiers of images, in a small form, in float64 where it has it."""

import pytest

from netdyno.frameworks.spec import Spec
from netdyno.results.proof import EXACTLY, Proof
from netdyno.zoo.catalog import Entry, entries, resolve
from netdyno.zoo.entry import CNN, INSTRUMENT, MLP, reduced
from tests.parity.conftest import candidate_for, proved_specs
from tests.parity.networks import BATCH, name_of

FAMILIES = tuple(entry for entry in entries() if entry.family not in (CNN, MLP, INSTRUMENT))
# Each has a form with few steps or layers, which a compiler takes in seconds: a row unrolled, draws, two updates.
# Theano compiles every op by itself, in C++, which takes ten minutes of these four.
QUICK = ("rnn", "vae", "gan", "dbn")
COMPILING = {"jax": QUICK, "keras-jax": QUICK, "tensorflow-1.9": QUICK, "theano": ("vae",)}
PROVED = [
    (spec, entry)
    for spec in proved_specs()
    for entry in FAMILIES
    if entry.network in COMPILING.get(spec.name, (entry.network,))
]
_proved: dict[str, dict[str, Proof]] = {}


def _proof_of(prover, spec: Spec, entry: Entry) -> Proof:
    """Of one network; all are proved when the first is asked for."""
    if spec.name not in _proved:
        precision = EXACTLY if EXACTLY in spec.precisions else "float32"
        wanted = [entry for own, entry in PROVED if own == spec]
        cases = [prover.case((e.network, e.dataset), resolve(reduced(e), BATCH)) for e in wanted]
        found = prover.prove(cases, candidate_for(spec, spec.executions[0], precision))
        _proved[spec.name] = {proof.case(): proof for proof in found}
    return _proved[spec.name][f"{entry.network}/{entry.dataset}"]


@pytest.mark.parametrize(("spec", "entry"), PROVED, ids=name_of)
def test_a_network_is_the_same_in_every_framework(prover, spec: Spec, entry: Entry) -> None:
    proof = _proof_of(prover, spec, entry)
    if proof.reason.startswith("unsupported"):
        pytest.skip(proof.reason)
    assert proof.passed, proof
