"""Writes docs/frameworks.md from the specs, the adapters and the last verification.

    netdyno verify --all --json > docs/parity.json && python docs/make_frameworks.py [MORE.json …]

Proofs in further files take the place of those of the same framework, network and precision.

A test holds the page equal to what this writes.
"""

import ast
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netdyno.frameworks.spec import Spec, specs
from netdyno.graph.ops import OPS
from netdyno.zoo.catalog import entries

DOCS = Path(__file__).parent
PAGE = DOCS / "frameworks.md"
PARITY = DOCS / "parity.json"
ADAPTERS = DOCS.parent / "src" / "netdyno_worker" / "adapters"
# By precision: what a table shows of each proof.
TABLES = {
    "float64": (
        "Largest error in float64, of outputs, gradients and moved parameters",
        ("outputs", "gradients", "parameters"),
    ),
    "float32": ("Largest error of a gradient in float32", ("gradients",)),
}
PROVED = ("framework", "network", "dataset", "precision")
ERAS = {"2018": "As in 2018", "last": "The last of their kind", "today": "Today"}

ZOO = [f"{entry.network}/{entry.dataset}" for entry in entries()]

Proofs = Mapping[tuple[str, str], Mapping[str, Any]]
"""The proofs of one framework by precision and case."""


def page() -> str:
    """The whole page."""
    proofs: dict[str, dict[tuple[str, str], Any]] = {}
    for proof in json.loads(PARITY.read_text(encoding="utf-8")):
        case = f"{proof['network']}/{proof['dataset']}"
        proofs.setdefault(proof["framework"], {})[proof["precision"], case] = proof
    real = [spec for spec in specs().values() if not spec.is_instrument]
    parts = [_HEAD, _overview(real, proofs), *(_parity(real, proofs, precision) for precision in TABLES)]
    for era, title in ERAS.items():
        parts += [f"## {title}\n", *(_section(spec, proofs.get(spec.name, {})) for spec in real if spec.era == era)]
    return "\n".join(parts)


def unsupported_ops(adapter: str) -> dict[str, str]:
    """What an adapter says it cannot do, read without importing it."""
    for node in ast.parse((ADAPTERS / adapter / "trainer.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "UNSUPPORTED":
            found: dict[str, str] = ast.literal_eval(node.value)
            return found
    return {}


_HEAD = """# Frameworks

Made by `make docs` from the specs, the adapters and the last `netdyno verify --all`; not to be edited by hand.
Install one with `netdyno frameworks install NAME`, all with `netdyno frameworks install all`.
"""


def _overview(real: list[Spec], proofs: Mapping[str, Proofs]) -> str:
    lines = ["| name | version | Python | devices | precisions | executions | ops | networks proved |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for spec in real:
        found = proofs.get(spec.name, {})
        proved = ", ".join(_proved(found, precision) for precision in TABLES if _of(found, precision)) or "–"
        ops = f"{len(OPS) - len(unsupported_ops(spec.adapter))} of {len(OPS)}" if spec.adapter else "–"
        cells = (f"[{spec.name}](#{_anchor(spec)})", _version(spec), spec.python.replace(",", ", "))
        lists = (" ".join(values) for values in (spec.devices, spec.precisions, spec.executions))
        lines.append(f"| {' | '.join((*cells, *lists, ops, proved))} |")
    return "\n".join(lines) + "\n"


def _proved(proofs: Proofs, precision: str) -> str:
    own = _of(proofs, precision)
    return f"{sum(proof['passed'] for proof in own.values())} of {len(own)} in {precision}"


def _of(proofs: Proofs, precision: str) -> dict[str, Mapping[str, Any]]:
    """By case, in one precision."""
    return {case: proof for (own, case), proof in proofs.items() if own == precision}


def _parity(real: list[Spec], proofs: Mapping[str, Proofs], precision: str) -> str:
    """A relative error for each network and framework, with the size of the items and of the batch in the proof."""
    title, kinds = TABLES[precision]
    columns = {spec.name: own for spec in real if (own := _of(proofs.get(spec.name, {}), precision))}
    found = dict.fromkeys(case for own in columns.values() for case in own)
    lines = [
        f"## {title}\n",
        f"| network | items | batch | {' | '.join(columns)} |",
        f"|---|---|---|{'---|' * len(columns)}",
    ]
    for case in [case for case in ZOO if case in found] + [case for case in found if case not in ZOO]:
        some = next(own[case] for own in columns.values() if case in own)
        errors = " | ".join(_error(own.get(case), kinds) for own in columns.values())
        lines.append(f"| {case} | {some.get('size') or ''} | {some.get('batch') or ''} | {errors} |")
    return (
        "\n".join(lines) + "\n\n– : not proved in it; a reason, if there is one, is in the framework's own section.\n"
    )


def _section(spec: Spec, proofs: Proofs) -> str:
    lines = [f"### {spec.title}\n<a id='{_anchor(spec)}'></a>\n"]
    if spec.requirements:
        lines.append(f"`{spec.name}`: " + ", ".join(f"`{pin}`" for pin in spec.requirements) + ".")
    if spec.unavailable:
        lines.append(f"*Nothing to install.* {spec.unavailable}")
    if spec.note:
        lines.append(spec.note)
    if spec.adapter:
        lines += [f"- no `{op}`: {reason}" for op, reason in unsupported_ops(spec.adapter).items()]
    lines += [f"- {case} in {way}: {proof['reason']}" for (way, case), proof in proofs.items() if proof.get("reason")]
    return "\n".join(lines) + "\n"


def _version(spec: Spec) -> str:
    return next((pin.partition("==")[2] for pin in spec.requirements if "==" in pin), spec.versions)


def _anchor(spec: Spec) -> str:
    return spec.name.replace(".", "-")


def _error(proof: Mapping[str, Any] | None, kinds: Sequence[str]) -> str:
    errors = [proof[kind] for kind in kinds if proof[kind] is not None] if proof else []
    if not proof or not errors:
        return "–"
    return f"{max(errors):.0e}" if proof["passed"] else f"**{max(errors):.0e}**"


def shorten_proofs(more: Sequence[Path]) -> None:
    """Leave the tensors of proofs that hold out of the file: ten of each, which the page does not show."""
    every = [proof for path in (PARITY, *more) for proof in json.loads(path.read_text(encoding="utf-8"))]
    proofs = {tuple(proof[name] for name in PROVED): proof for proof in every}.values()
    short = [{name: value for name, value in p.items() if name != "worst" or not p["passed"]} for p in proofs]
    PARITY.write_text(json.dumps(short, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    shorten_proofs([Path(name) for name in sys.argv[1:]])
    PAGE.write_text(page(), encoding="utf-8")
