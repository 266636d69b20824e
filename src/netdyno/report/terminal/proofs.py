"""Proofs as tables: one line each, or a matrix of frameworks and networks; what differs, in words."""

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.report.terminal.footnotes import Footnotes
from netdyno.report.terminal.tables import matrix_tables, new_table
from netdyno.results.proof import EXACTLY, Proof

KINDS = ("outputs", "gradients", "parameters")


def proofs_table(proofs: Sequence[Proof]) -> Table:
    """One line per framework, network and precision: the largest relative errors, and which would have been seen."""
    table = new_table("framework", "network", "precision", "same?", *KINDS, "sees", right=(*KINDS, "sees"))
    for proof in proofs:
        errors = [_error(getattr(proof, kind)) for kind in KINDS]
        table.add_row(proof.framework, proof.case(), proof.precision, _same(proof), *errors, _sees(proof))
    return table


def proof_remarks(proofs: Sequence[Proof]) -> list[Text]:
    """What the figures do not say: what differs and where it begins, what was not proved, what rounding hides."""
    found = []
    for proof in proofs:
        who = f"{proof.framework} on {proof.case()} in {proof.precision}"
        if proof.reason:
            found.append(Text(f"{who}: {proof.reason}"))
        elif not proof.passed:
            found.append(Text(f"{who} is NOT EQUAL: {proof.difference()}.", style="red"))
    return found + _hidden([proof for proof in proofs if proof.is_poor()])


def _hidden(proofs: Sequence[Proof]) -> list[Text]:
    """What rounding hides, once for all frameworks: it is a property of the network."""
    worst: dict[tuple[str, str], tuple[float, str]] = {}
    for proof in proofs:
        key = (proof.case(), proof.precision)
        for kind, size in (proof.resolution or {}).items():
            worst[key] = max(worst.get(key, (0.0, "")), (size, kind))
    return [
        Text(f"{case} in {precision}: rounding hides errors of its {kind} up to {size:.0%}.")
        for (case, precision), (size, kind) in worst.items()
    ]


def tensors_table(proof: Proof) -> Table:
    """The tensors that are nearest their limits or over them. Distances and sizes are root mean squares."""
    heads = ("of limit", "off by", "limit", "size")
    table = new_table(f"{proof.framework}, {proof.case()}, {proof.precision}", "node", *heads, right=heads)
    for tensor in proof.worst:
        off_by = "no number" if tensor.off_by is None else f"{tensor.off_by:.1e}"
        share = Text(f"{tensor.share():.2g}", style="" if tensor.holds() else "red")
        table.add_row(tensor.what(), tensor.node, share, off_by, f"{tensor.limit:.1e}", f"{tensor.size:.1e}")
    return table


def proof_matrix(proofs: Sequence[Proof], missing: Mapping[str, str]) -> list[RenderableType]:
    """The largest relative gradient error of every framework on every network, in float64 and as measured, tables
    for each dataset; where there is none, the number of its reason below."""
    notes = Footnotes()
    frameworks = sorted({proof.framework for proof in proofs} | missing.keys())
    precisions = sorted({proof.precision for proof in proofs}, key=lambda name: (name != EXACTLY, name))
    parts: list[RenderableType] = []
    for dataset in dict.fromkeys(proof.dataset for proof in proofs):
        here = {(p.framework, p.network, p.precision): p for p in proofs if p.dataset == dataset}
        networks = list(dict.fromkeys(network for _, network, _ in here))
        rows = {
            framework: [
                _cell([here.get((framework, network, p)) for p in precisions], missing.get(framework, ""), notes)
                for network in networks
            ]
            for framework in frameworks
        }
        for table in matrix_tables(dataset, networks, rows):
            parts += [table, ""]
    words = f"Gradients are off by at most this much of their size, in {' and '.join(precisions)}."
    return [*parts, Text(words), notes.lines()]


def _cell(proofs: Sequence[Proof | None], missing: str, notes: Footnotes) -> Text:
    """A figure for each precision."""
    if not any(proofs):
        return notes.mark("–", missing)
    parts = [_part(proof, notes) for proof in proofs]
    return Text(" ").join(parts)


def _part(proof: Proof | None, notes: Footnotes) -> Text:
    if proof is None:
        return Text("     –")
    if proof.reason:
        return notes.mark("–", proof.reason)
    if proof.passed:
        return Text(_error(proof.gradients), style="green")
    return Text("WRONG", style="red") + notes.mark("", f"{proof.framework}, {proof.case()}: {proof.difference()}")


def _same(proof: Proof) -> Text:
    if proof.reason:
        return Text("–")
    return Text("yes", style="green") if proof.passed else Text("NO", style="red")


def _sees(proof: Proof) -> str:
    """The smallest relative error that would have been seen, wherever it was."""
    return _error(max((proof.resolution or {}).values(), default=None))


def _error(value: float | None) -> str:
    return "–" if value is None else f"{value:.0e}"
