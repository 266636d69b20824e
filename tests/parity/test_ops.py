"""Every adapter on every op, optimizer and kind of training: outputs, gradients, updated parameters."""

import ast
from pathlib import Path

import pytest

from netdyno.frameworks.fused import fused_ops
from netdyno.graph.lower import lowered
from netdyno.graph.wire import from_wire, to_wire
from netdyno.results.proof import Proof
from netdyno_worker.program import needs, read_program
from tests.parity.conftest import CASES, candidate_for, frameworks

ADAPTERS = Path(__file__).parents[2] / "src" / "netdyno_worker" / "adapters"
# Every case in a framework's first execution, in float64 too where it has it: there nothing hides behind rounding.
# Compiling each op alone would take minutes, so in another execution the small networks, which have every optimizer
# and most ops in them.
PROVED = [
    (spec, execution, precision, case)
    for spec, execution in frameworks()
    for precision in ("float32", "float64")
    for case in CASES
    if (execution == spec.executions[0] and precision in spec.precisions)
    or (precision == "float32" and case.startswith("network/"))
]
_proved: dict[tuple[str, str, str], dict[str, Proof]] = {}


def _proofs(prover, cases, spec, execution, precision):
    """All cases in one process, because importing a framework takes longer than proving one op."""
    key = (spec.name, execution, precision)
    if key not in _proved:
        wanted = {case for *way, case in PROVED if way == [spec, execution, precision]}
        chosen = [case for case in cases if case.name in wanted]
        found = prover.prove(chosen, candidate_for(spec, execution, precision))
        _proved[key] = dict(zip([case.name for case in chosen], found, strict=True))
    return _proved[key]


def _unsupported_ops(adapter):
    for node in ast.parse((ADAPTERS / adapter / "trainer.py").read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "UNSUPPORTED":
            return set(ast.literal_eval(node.value))
    raise AssertionError(f"{adapter} has no UNSUPPORTED")


@pytest.mark.parametrize(("spec", "execution", "precision", "case"), PROVED, ids=lambda v: getattr(v, "name", v))
def test_an_adapter_computes_what_the_reference_computes(prover, cases, spec, execution, precision, case):
    proof = _proofs(prover, cases, spec, execution, precision)[case]
    if proof.reason:
        assert proof.reason.startswith("unsupported"), proof.reason
        program = read_program(to_wire(lowered(from_wire(CASES[case]), fused_ops(spec))))
        wanted = {need for node in program.nodes for need in needs(program, node)}
        lacks_float64 = precision == "float64" and "has no float64 kernel" in proof.reason
        assert lacks_float64 or wanted & _unsupported_ops(spec.adapter), proof.reason
        return
    assert proof.passed, [tensor for tensor in proof.worst if not tensor.holds()]
