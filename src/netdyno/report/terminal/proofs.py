"""Proofs as tables: one line each, or a matrix of frameworks and networks."""

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.terminal.tables import new_table
from netdyno.results.proof import Proof


def proofs_table(proofs: Sequence[Proof]) -> Table:
    """One line per framework and network: the largest relative errors against the float64 reference."""
    table = new_table(
        "framework", "network", "same?", "outputs", "gradients", "parameters", "worst node",
        right=("outputs", "gradients", "parameters"),
    )  # fmt: skip
    for proof in proofs:
        same = Text("yes", style="green") if proof.passed else Text("NO", style="red")
        errors = [_error(getattr(proof, kind)) for kind in ("outputs", "gradients", "parameters")]
        where = proof.reason or proof.worst_node
        table.add_row(proof.framework, f"{proof.network}/{proof.dataset}", same, *errors, where)
    return table


def proof_matrix(proofs: Sequence[Proof], missing: Mapping[str, str]) -> list[RenderableType]:
    """The largest relative gradient error of every framework on every network, a table for each dataset; where
    there is none, the number of its reason below."""
    notes = Footnotes()
    frameworks = sorted({proof.framework for proof in proofs} | missing.keys())
    parts: list[RenderableType] = []
    for dataset in dict.fromkeys(proof.dataset for proof in proofs):
        here = {(proof.framework, proof.network): proof for proof in proofs if proof.dataset == dataset}
        networks = list(dict.fromkeys(network for _, network in here))
        table = new_table(f"{dataset}: gradients", *networks, right=networks)
        for framework in frameworks:
            cells = [_cell(here.get((framework, network)), missing.get(framework, ""), notes) for network in networks]
            table.add_row(framework, *cells)
        parts += [table, ""]
    return [*parts, notes.lines()]


def _cell(proof: Proof | None, missing: str, notes: Footnotes) -> Text:
    if proof is None:
        return notes.mark("–", missing)
    if proof.reason:
        return notes.mark("–", proof.reason)
    if proof.passed:
        return Text(_error(proof.gradients), style="green")
    return Text("WRONG ", style="red") + notes.mark(_error(proof.gradients), f"{proof.framework}: {proof.worst_node}")


def _error(value: float | None) -> str:
    return "–" if value is None else f"{value:.1e}"
