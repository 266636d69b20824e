"""Data is never taken for markup: one module makes consoles, and nothing of rich that reads brackets is used."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "src" / "netdyno"
CONSOLE = ROOT / "report" / "terminal" / "console.py"
# What of rich takes a string for markup whatever the console is set to.
READS_MARKUP = {"markup", "status", "spinner", "progress", "panel", "prompt", "logging", "traceback", "align"}
FILES = [path for path in sorted(ROOT.rglob("*.py")) if path != CONSOLE and "rich" in path.read_text()]


def faults(source: str) -> list[str]:
    """Each place where text could be read as markup."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = _imported(node)
        if names & {"rich.print", "rich.inspect", *(f"rich.{name}" for name in READS_MARKUP)}:
            found.append(f"line {node.lineno}: imports {', '.join(sorted(names))}")
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            marked = any(
                word.arg in ("markup", "emoji", "highlight") and not _is_false(word) for word in node.keywords
            )
            if called in ("Console", "from_markup", "from_ansi", "render_markup") or marked:
                found.append(f"line {node.lineno}: calls {called}")
    return found


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "rich":
        return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    return set()


def _is_false(word: ast.keyword) -> bool:
    return isinstance(word.value, ast.Constant) and word.value.value is False


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_module_can_take_data_for_markup(path):
    assert faults(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    ["from rich.status import Status", "from rich import print", "import rich.progress", "Console()",
     "Text.from_markup(name)", "console.print(name, markup=True)", "console.print(name, highlight=wanted)"],
)  # fmt: skip
def test_what_would_take_it_so_is_found(source):
    assert faults(source)


def test_the_files_that_print_are_looked_at():
    assert len(FILES) > 10
