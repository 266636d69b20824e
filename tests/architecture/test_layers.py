"""Imports point one way, and the two packages never meet."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKER = ROOT / "src" / "netdyno_worker"
OWN = sorted(path for path in WORKER.rglob("*.py") if "adapters" not in path.parts)
STANDARD_OR_NUMPY = sys.stdlib_module_names | {"numpy", "netdyno_worker"}


def test_the_import_contracts_hold():
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_the_worker_needs_nothing_but_the_standard_library_and_numpy(path):
    assert _imported(path) <= STANDARD_OR_NUMPY


@pytest.mark.parametrize("path", sorted(WORKER.rglob("*.py")), ids=lambda path: path.name)
def test_the_worker_is_written_in_python_3_6(path):
    ast.parse(path.read_text(), feature_version=(3, 6))


@pytest.mark.parametrize("path", sorted(WORKER.rglob("*.py")), ids=lambda path: path.name)
def test_the_worker_imports_modules_of_its_own_that_exist(path):
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    own = [node.module for node in nodes if node.module and node.module.split(".")[0] == "netdyno_worker"]
    places = [WORKER.parent.joinpath(*name.split(".")) for name in own]
    assert [str(place) for place in places if not (place.with_suffix(".py").exists() or place.is_dir())] == []


def _imported(path):
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.split(".")[0] for name in names}
