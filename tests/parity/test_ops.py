"""Every adapter on every op, optimizer and kind of training: outputs, gradients, updated parameters."""

import ast
from math import inf
from pathlib import Path

import pytest

from netdyno.protocol.events import Proof
from tests.parity.conftest import CASES, candidate_for, frameworks

ADAPTERS = Path(__file__).parents[2] / "src" / "netdyno_worker" / "adapters"
TOLERANCE = 2e-5  # float32 on small programs
MOVED_TOLERANCE = 1e-3  # a parameter is rounded relative to its size, not to how far it moved
# Every case in a framework's first execution; compiling each op alone would take minutes, so in another execution
# the small networks, which have every optimizer and most ops in them.
PROVED = [
    (spec, execution, case)
    for spec, execution in frameworks()
    for case in CASES
    if execution == spec.executions[0] or case.startswith("network/")
]
_said: dict[tuple[str, str], dict[str, Proof]] = {}


def _proofs(prover, cases, spec, execution):
    """All cases in one process, because importing a framework takes longer than proving one op."""
    key = (spec.name, execution)
    if key not in _said:
        wanted = {case for *way, case in PROVED if way == [spec, execution]}
        chosen = [case for case in cases if case.name in wanted]
        finished = prover.compare(chosen, candidate_for(spec, execution))
        _said[key] = {event.case: event for event in finished.log.all(Proof)}
        if finished.verdict.outcome != "done":
            pytest.fail(f"{spec.name} {execution} stopped after {len(_said[key])} cases: {finished.verdict}")
    return _said[key]


def _unsupported_ops(adapter):
    for node in ast.parse((ADAPTERS / adapter / "trainer.py").read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "UNSUPPORTED":
            return set(ast.literal_eval(node.value))
    raise AssertionError(f"{adapter} has no UNSUPPORTED")


@pytest.mark.parametrize(("spec", "execution", "case"), PROVED, ids=lambda value: getattr(value, "name", value))
def test_an_adapter_computes_what_the_reference_computes(prover, cases, spec, execution, case):
    proof = _proofs(prover, cases, spec, execution)[case]
    ops = {node["op"] for node in CASES[case]["graph"]["nodes"]}
    if proof.unsupported:
        assert ops & _unsupported_ops(spec.adapter), proof.unsupported
        return
    wrong = {
        f"{kind} {name}": error
        for kind, errors in proof.errors.items()
        for name, error in errors.items()
        if (inf if error is None else error) > (MOVED_TOLERANCE if kind == "moved" else TOLERANCE)
    }
    assert wrong == {}
