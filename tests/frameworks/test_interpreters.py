"""Which Python an environment is made with."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from netdyno.errors import NetdynoError
from netdyno.frameworks.interpreters import fitting_python, probe, python_version
from netdyno.frameworks.spec import Spec


def _fake_python(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing but the current Python and what a test puts on PATH or under pyenv."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return tmp_path


def test_the_current_python_is_taken_if_it_fits(tiny: Spec, machine: Path) -> None:
    _fake_python(machine / "bin" / "python3.14", "3.14.1")
    assert fitting_python(tiny) == Path(sys.executable)


def test_otherwise_the_newest_on_the_path_that_fits(tiny: Spec, machine: Path) -> None:
    _fake_python(machine / "bin" / "python3.6", "3.6.15")
    newer = _fake_python(machine / "bin" / "python3.8", "3.8.18")
    _fake_python(machine / "bin" / "python3.9", "pyenv: not found")
    assert fitting_python(replace(tiny, python=">=3.6,<3.10")) == newer


def test_otherwise_the_newest_of_pyenv_that_fits(tiny: Spec, machine: Path) -> None:
    _fake_python(machine / "pyenv" / "versions" / "3.9.18" / "bin" / "python", "3.9.18")
    newer = _fake_python(machine / "pyenv" / "versions" / "3.10.2" / "bin" / "python", "3.10.2")
    assert fitting_python(replace(tiny, python=">=3.6,<3.11")) == newer


def test_a_machine_without_a_fitting_python_says_what_fits_and_what_it_has(tiny: Spec, machine: Path) -> None:
    _fake_python(machine / "bin" / "python3.8", "3.8.18")
    with pytest.raises(NetdynoError, match=r">=3\.6,<3\.7.*3\.8\.18.*pyenv install 3\.6"):
        fitting_python(replace(tiny, python=">=3.6,<3.7"))


def test_otherwise_one_of_condas_or_uvs(tiny: Spec, machine: Path) -> None:
    of_uv = _fake_python(machine / "uv" / "cpython-3.9.20-linux-x86_64-gnu" / "bin" / "python3", "3.9.20")
    assert fitting_python(replace(tiny, python=">=3.9,<3.10")) == of_uv
    of_conda = _fake_python(machine / "conda" / "envs" / "old" / "bin" / "python", "3.9.1")
    (machine / "user" / ".conda").mkdir(parents=True)
    gone = machine / "conda" / "envs" / "gone"
    (machine / "user" / ".conda" / "environments.txt").write_text(f"{gone}\n{of_conda.parent.parent}\n")
    assert fitting_python(replace(tiny, python=">=3.9,<3.10")) == of_conda


@pytest.mark.parametrize(
    ("tool", "python", "hint"),
    [
        ("uv", ">=3.8,<3.9", "uv python install 3.8"),
        ("uv", ">=3.6,<3.7", "pyenv install 3.6"),
        ("conda", ">=3.6,<3.7", "conda create -n python3.6 python=3.6"),
    ],
)
def test_the_hint_is_a_command_of_a_tool_that_is_here(
    tiny: Spec, machine: Path, tool: str, python: str, hint: str
) -> None:
    _fake_python(machine / "bin" / tool, "")
    with pytest.raises(NetdynoError, match=hint):
        fitting_python(replace(tiny, python=python))


def test_what_is_no_python_has_no_version(tmp_path: Path) -> None:
    assert python_version(tmp_path / "missing") == ""
    assert python_version(_fake_python(tmp_path / "python", "hello")) == ""


def test_a_program_that_answers_nonsense_is_no_interpreter(tiny: Spec, tmp_path: Path) -> None:
    assert probe(_fake_python(tmp_path / "python", "[1, 2]"), tiny) is None
