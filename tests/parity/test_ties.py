"""Gradients that are a convention: of equal maxima, at a clamp's bounds, where a softplus bends.

No difference of values can say what is right there, so they are not among the small programs of every test.
"""

import pytest

from netdyno.frameworks.spec import Spec
from netdyno.graph.wire import from_wire
from netdyno.workloads.prove import Prover
from tests.parity.conftest import candidate_for, proved_specs

from one_op import case  # isort: skip (on the path since conftest)

PROGRAMS = {
    "reduce_max/equal": case("reduce_max", [("x", [3, 4], 2.0, 2.0)], [3], axes=[1], keep=False),
    "clamp/at_low": case("clamp", [("x", [3, 4], -0.25, -0.25)], [3, 4], low=-0.25, high=0.5),
    "clamp/at_high": case("clamp", [("x", [3, 4], 0.5, 0.5)], [3, 4], low=-0.25, high=0.5),
    "softplus/at_0": case("softplus", [("x", [3, 4], 0.0, 0.0)], [3, 4]),
    "erf/far": case("erf", [("x", [3, 4], 5.5, 30.0)], [3, 4]),
}


@pytest.mark.parametrize("spec", proved_specs(), ids=lambda spec: spec.name)
def test_gradients_that_are_a_convention_are_those_of_the_graph(prover: Prover, spec: Spec) -> None:
    cases = [prover.case(("ties", name), from_wire(wire)) for name, wire in PROGRAMS.items()]
    for proof in prover.prove(cases, candidate_for(spec, spec.executions[0])):
        assert proof.passed or proof.reason.startswith("unsupported"), proof
