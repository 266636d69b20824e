"""A home folder of each test's own, and packages only from a folder of hand-made wheels."""

import sys
from pathlib import Path

import pytest
from tests.frameworks.making import write_spec, write_wheel

from netdyno.frameworks import environments
from netdyno.frameworks.install import framework
from netdyno.frameworks.spec import Spec, find_spec


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NETDYNO_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NETDYNO_SPECS", raising=False)
    for module in (environments, framework):
        monkeypatch.setattr(module, "has_nvidia_gpu", lambda: False)
    return tmp_path / "home"


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """A Python as a bare Debian has it, without ensurepip; environments of it are made in no time."""
    path = tmp_path / "bare-python"
    path.write_text(
        '#!/bin/sh\ncase "$*" in *--without-pip*) ;; *venv*) echo ensurepip is not available; exit 1;; esac\n'
        f'exec {sys.executable} "$@"\n'
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def offline(tmp_path: Path, bare_python: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip sees nothing but the wheels in this folder, and fills environments of the bare Python."""
    monkeypatch.setattr(framework, "fitting_python", lambda spec: bare_python)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    write_wheel(tmp_path / "wheels")
    return tmp_path / "wheels"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spec:
    """A framework that is one small wheel, added as a user would add one."""
    write_spec(tmp_path / "specs")
    monkeypatch.setenv("NETDYNO_SPECS", str(tmp_path / "specs"))
    return find_spec("tiny")
