"""Which composite ops a framework computes with a kernel of its own: the literal `FUSED` of its adapter."""

import ast
import importlib.util
from functools import cache
from pathlib import Path

from netdyno.errors import NetdynoError
from netdyno.frameworks.spec import Spec

WORKER = "netdyno_worker"


def fused_ops(spec: Spec) -> frozenset[str]:
    """What the adapter states in `ops.py` of its folder, or in its only module, but for what the spec says that its
    version lacks; nothing where it states nothing, as a worker in another language does not."""
    if not spec.adapter:
        return frozenset()
    for folder in (spec.worker_path, _own_adapters()):
        for name in (f"{spec.adapter}/ops.py", f"{spec.adapter}.py"):
            if folder is not None and (folder / name).is_file():
                return _stated(folder / name) - set(spec.lowered)
    return frozenset()


@cache
def _stated(path: Path) -> frozenset[str]:
    """The literal, read without running anything."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "FUSED" for t in node.targets):
            return _names(node.value, path)
    return frozenset()


def _names(value: ast.expr, path: Path) -> frozenset[str]:
    try:
        names = ast.literal_eval(value)
    except ValueError:
        names = None
    if not isinstance(names, set) or not all(isinstance(name, str) for name in names):
        raise NetdynoError(f"{path}: expected FUSED to be a literal set of op names, received {ast.unparse(value)}.")
    return frozenset(names)


@cache
def _own_adapters() -> Path | None:
    """The folder of the worker's adapters, found without importing it."""
    found = importlib.util.find_spec(WORKER)
    places = found.submodule_search_locations if found else None
    return Path(next(iter(places))) / "adapters" if places else None
