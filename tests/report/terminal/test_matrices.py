"""Matrices of frameworks and networks: they fit 100 columns, and no cell is empty without a reason."""

import io

from rich.console import Console

from netdyno.frameworks.spec import specs
from netdyno.report.terminal.availability import availability
from netdyno.report.terminal.proofs import proof_matrix
from netdyno.results.cell import Cell
from netdyno.results.proof import Proof
from netdyno.zoo.catalog import entries


def _text(parts):
    console = Console(file=io.StringIO(), width=100, highlight=False)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def _proof(framework, entry, **changes):
    fields = {"device": "cpu", "precision": "float32", "execution": "eager", "passed": True, "gradients": 1.2e-6}
    return Proof(framework=framework, network=entry.network, dataset=entry.dataset, **{**fields, **changes})


def test_the_matrix_of_all_frameworks_and_networks_fits_and_is_whole():
    proofs = [_proof(name, entry) for name in specs() for entry in entries()]
    text = _text(proof_matrix(proofs, {}))
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("1.2e-06") == len(proofs)
    assert "…" not in text


def test_every_empty_cell_has_its_reason_below():
    first, second, *_ = entries()
    proofs = [_proof("a", first), _proof("a", second, passed=False, gradients=None, reason="unsupported: groups")]
    text = _text(proof_matrix(proofs, {"b": "not installed"}))
    assert "¹ not installed" in text
    assert "² unsupported: groups" in text


def test_a_wrong_gradient_is_shouted_with_its_node():
    text = _text(proof_matrix([_proof("a", entries()[0], passed=False, gradients=1.0, worst_node="conv2")], {}))
    assert "WRONG" in text
    assert "a: conv2" in text


def test_availability_says_why_a_framework_is_not_there():
    cells = [
        Cell(
            network=entry.network, dataset=entry.dataset, framework=name, device="cpu", batch=1,
            precision="float32", execution="eager", data="synthetic", threads=1,
        )
        for entry in entries()
        for name in ("a", "b")
    ]  # fmt: skip
    text = _text(availability(cells, [], {"a": "it needs Python 3.6", "b": "no package"}))
    assert text.count("not here¹") == text.count("not here²") == len(entries())
    assert "¹ it needs Python 3.6" in text
    assert max(map(len, text.splitlines())) <= 100
