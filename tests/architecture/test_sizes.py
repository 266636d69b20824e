"""A file answers one question, a function fits in the eye, and no file is a junk drawer."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LINES_IN_A_FILE = 300
LINES_IN_A_FUNCTION = 50
JUNK = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}


def _name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES + sorted((ROOT / "tests").rglob("*.py")), ids=_name)
def test_a_file_has_at_most_300_lines(path):
    assert len(path.read_text().splitlines()) <= LINES_IN_A_FILE


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_a_function_has_at_most_50_lines(path):
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    assert {f.name for f in functions if f.end_lineno - f.lineno >= LINES_IN_A_FUNCTION} == set()


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_a_file_says_first_which_question_it_answers(path):
    assert ast.get_docstring(ast.parse(path.read_text())), "the first line of a file is a docstring"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_no_file_is_a_junk_drawer(path):
    assert path.stem not in JUNK


def test_most_functions_are_short():
    lengths = [
        node.end_lineno - node.lineno + 1
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    assert sorted(lengths)[len(lengths) // 2] <= 10
