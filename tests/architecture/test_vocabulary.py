"""Both sides of the process boundary use the same words, and the support matrix cannot lie."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from netdyno.frameworks.fused import fused_ops
from netdyno.frameworks.spec import specs
from netdyno.graph import wire
from netdyno.graph.ops import OPS
from netdyno.protocol.events import AnyEvent
from netdyno.protocol.fields import PROTOCOL

ROOT = Path(__file__).parents[2]
WORKER = ROOT / "src" / "netdyno_worker"
ADAPTERS = sorted(path.parent for path in (WORKER / "adapters").glob("*/trainer.py"))
COMPOSITES = {name for name, op in OPS.items() if op.composite}
PAIRS = {f"{op}/{form}" for op in ("add", "subtract", "multiply", "divide") for form in ("broadcast", "scalar")}
FRAMEWORKS = r"\b(py)?torch\b|\bjax\b|tensorflow|\bkeras\b|\bmxnet\b|\bcntk\b|\bcaffe\b|\btheano\b|\bchainer\b|paddle"


def _literals(path):
    """Module-level names bound to literals, read without running anything."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.name)
def test_an_adapter_gives_a_reason_for_every_op_it_does_not_train(path):
    unsupported = _literals(path / "trainer.py")["UNSUPPORTED"]
    assert set(unsupported) <= {*OPS, "concat/axis", *PAIRS}
    assert all(isinstance(reason, str) and reason for reason in unsupported.values())


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.name)
def test_an_adapter_ends_its_ops_with_the_composites_that_it_translates_as_a_whole(path):
    *_, last = ast.parse((path / "ops.py").read_text()).body
    assert [target.id for target in last.targets] == ["FUSED"]
    fused = ast.literal_eval(last.value)
    assert isinstance(fused, set)
    assert fused <= COMPOSITES - set(_literals(path / "trainer.py")["UNSUPPORTED"])


def test_files_of_an_adapter_have_the_same_names_in_all():
    """What trains something moves parameters; the kit is no adapter."""
    without = {path.name for path in ADAPTERS if not (path / "optimizers.py").exists()}
    assert without == {"null"}
    assert all((path / "__init__.py").exists() for path in ADAPTERS)


@pytest.mark.parametrize("spec", specs().values(), ids=lambda spec: spec.name)
def test_what_an_adapter_has_fused_are_composite_ops(spec):
    assert fused_ops(spec) <= {name for name, op in OPS.items() if op.composite}


def test_every_adapter_has_a_spec_and_every_spec_an_adapter():
    assert {spec.adapter for spec in specs().values() if spec.adapter} == {path.name for path in ADAPTERS}


def test_host_and_worker_speak_the_same_protocol():
    worker = _literals(WORKER / "protocol.py")
    assert worker["PROTOCOL"] == PROTOCOL
    emitted = {name for path in WORKER.rglob("*.py") for name in re.findall(r'emit\(\s*"(\w+)"', path.read_text())}
    assert emitted == {kind.__struct_config__.tag for kind in get_args(AnyEvent)}
    assert _literals(WORKER / "program.py")["FORMAT"] == wire.FORMAT


@pytest.mark.parametrize(
    "path",
    [path for path in sorted((ROOT / "src").rglob("*.py")) if path.parent.parent.name != "adapters"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_framework_is_named_outside_its_adapter_and_spec(path):
    code = "\n".join(line for line in path.read_text().splitlines() if "source=" not in line)
    if "zoo" in path.parts:
        code = re.sub(r'"[^"\n]*"', '""', code)  # the zoo quotes where a network was published
    assert re.findall(FRAMEWORKS, code, re.IGNORECASE) == []
