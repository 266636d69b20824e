"""Matrices of frameworks and networks: they fit 100 columns, and no cell is empty without a reason."""

import io

from msgspec import structs
from rich.console import Console

from netdyno.frameworks.spec import specs
from netdyno.report.terminal.availability import availability
from netdyno.report.terminal.proofs import proof_matrix, proof_remarks, tensors_table
from netdyno.results.cell import Cell
from netdyno.results.proof import Proof, Tensor
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
    both = ({}, {"precision": "float64", "gradients": 2e-14})
    proofs = [_proof(name, entry, **changes) for name in specs() for entry in entries() for changes in both]
    text = _text(proof_matrix(proofs, {}))
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("1e-06") == text.count("2e-14") == len(proofs) / 2
    assert "…" not in text


def test_every_empty_cell_has_its_reason_below():
    first, second, *_ = entries()
    proofs = [_proof("a", first), _proof("a", second, passed=False, gradients=None, reason="unsupported: groups")]
    text = _text(proof_matrix(proofs, {"b": "not installed"}))
    assert "¹ not installed" in text
    assert "² unsupported: groups" in text


WRONG = Tensor(kind="gradients", name="train/conv2.weight", node="conv2", size=2.0, off_by=0.5, limit=2e-6)


def test_what_is_wrong_is_said_with_its_tensor_its_limit_and_where_it_begins():
    proof = _proof("a", entries()[0], passed=False, gradients=0.25, worst_node="fc3", worst=(WRONG,))
    said = "the gradient of conv2.weight is off by 2.5e-01 of its size, limit 1.0e-06; it begins at fc3"
    matrix = _text(proof_matrix([proof], {}))
    assert "WRONG¹" in matrix
    assert said in " ".join(matrix.split())
    assert said in " ".join(_text(proof_remarks([proof])).split())


def test_the_ten_worst_tensors_are_shown_with_their_share_of_the_limit():
    lost = structs.replace(WRONG, kind="outputs", name="fc3", off_by=None)
    table = _text([tensors_table(_proof("a", entries()[0], passed=False, worst=(WRONG, lost)))])
    assert "2.5e+05" in table
    assert "no number" in table


def test_a_network_that_amplifies_rounding_says_once_what_that_hides():
    first, second = (
        _proof(name, entries()[0], resolution={"outputs": 1e-5, "gradients": seen})
        for name, seen in (("a", 0.3), ("b", 0.25))
    )
    (remark,) = proof_remarks([first, second])
    assert "rounding hides errors of its gradients up to 30%" in remark.plain
    assert proof_remarks([_proof("a", entries()[0], resolution={"gradients": 0.03})]) == []


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
