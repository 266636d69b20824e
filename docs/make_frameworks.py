"""Writes docs/frameworks.md from the specs, the adapters and the last verification.

    netdyno verify --all --json > docs/parity.json && python docs/make_frameworks.py

A test holds the page equal to what this writes.
"""

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netdyno.frameworks.spec import Spec, specs
from netdyno.graph.ops import OPS

DOCS = Path(__file__).parent
PAGE = DOCS / "frameworks.md"
PARITY = DOCS / "parity.json"
ADAPTERS = DOCS.parent / "src" / "netdyno_worker" / "adapters"
ERAS = {"2018": "As in 2018", "last": "The last of their kind", "today": "Today"}

Proofs = Mapping[str, Mapping[str, Any]]
"""The proofs of one framework by case."""


def page() -> str:
    """The whole page."""
    proofs: dict[str, dict[str, Any]] = {}
    for proof in json.loads(PARITY.read_text(encoding="utf-8")):
        proofs.setdefault(proof["framework"], {})[f"{proof['network']}/{proof['dataset']}"] = proof
    real = [spec for spec in specs().values() if not spec.is_instrument]
    cases = list(dict.fromkeys(case for found in proofs.values() for case in found))
    parts = [_HEAD, _overview(real, proofs), _parity(real, proofs, cases)]
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
        proved = f"{sum(proof['passed'] for proof in found.values())} of {len(found)}" if found else "–"
        ops = f"{len(OPS) - len(unsupported_ops(spec.adapter))} of {len(OPS)}" if spec.adapter else "–"
        cells = (f"[{spec.name}](#{_anchor(spec)})", _version(spec), spec.python.replace(",", ", "))
        lists = (" ".join(values) for values in (spec.devices, spec.precisions, spec.executions))
        lines.append(f"| {' | '.join((*cells, *lists, ops, proved))} |")
    return "\n".join(lines) + "\n"


def _parity(real: list[Spec], proofs: Mapping[str, Proofs], cases: list[str]) -> str:
    """The largest relative gradient error against the float64 reference."""
    lines = ["## Largest gradient error against the float64 reference\n"]
    lines += [f"| | {' | '.join(cases)} |", f"|---|{'---|' * len(cases)}"]
    for spec in real:
        found = proofs.get(spec.name, {})
        lines.append(f"| {spec.name} | {' | '.join(_error(found.get(case)) for case in cases)} |")
    return "\n".join(lines) + "\n\n– : see the framework's own section for the reason.\n"


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
    lines += [f"- {case}: {proof['reason']}" for case, proof in proofs.items() if proof.get("reason")]
    return "\n".join(lines) + "\n"


def _version(spec: Spec) -> str:
    return next((pin.partition("==")[2] for pin in spec.requirements if "==" in pin), spec.versions)


def _anchor(spec: Spec) -> str:
    return spec.name.replace(".", "-")


def _error(proof: Mapping[str, Any] | None) -> str:
    if proof is None or proof["gradients"] is None:
        return "–"
    return f"{proof['gradients']:.0e}" if proof["passed"] else f"**{proof['gradients']:.0e}**"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
