"""Where a framework is found: given, current, installed, in that order."""

import json
import sys
from pathlib import Path

import pytest
from tests.frameworks.making import make_python

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import (
    MARKER,
    Interpreter,
    environment_of,
    find_interpreter,
    is_complete,
    locate,
    python_in,
    read_given,
)
from netdyno.frameworks.spec import Spec, find_spec


def _install_by_hand(spec: Spec) -> Path:
    environment = environment_of(spec)
    make_python(environment)
    (environment / MARKER).write_text(json.dumps({"framework": spec.name}))
    return environment


def test_a_framework_that_is_nowhere_comes_with_the_command_that_installs_it(tiny: Spec) -> None:
    assert locate(tiny, {}) is None
    with pytest.raises(NetdynoError, match="netdyno frameworks install tiny"):
        find_interpreter(tiny, {})


def test_the_order_is_given_current_installed(tiny: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = _install_by_hand(tiny)
    found = find_interpreter(tiny, {})
    assert (found.origin, found.path) == ("installed", python_in(environment))

    current = make_python(tmp_path / "current")
    monkeypatch.setattr(sys, "executable", str(current))
    found = find_interpreter(tiny, {})
    assert (found.origin, found.path) == ("current", current)

    given = make_python(tmp_path / "given")
    found = find_interpreter(tiny, {"tiny": Interpreter(path=given, origin="given")})
    assert (found.origin, found.path) == ("given", given)


def test_a_current_interpreter_with_another_version_does_not_count(
    tiny: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(make_python(tmp_path / "current", version="2.0")))
    assert locate(tiny, {}) is None


def test_a_module_that_only_pythonpath_shows_does_not_count(
    tiny: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "tinyframework.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "path"))
    assert locate(tiny, {}) is None


def test_a_wrong_given_interpreter_is_refused_even_if_the_framework_is_installed(tiny: Spec, tmp_path: Path) -> None:
    _install_by_hand(tiny)
    plain = tmp_path / "plain"
    plain.write_text("no program")
    cases = {
        tmp_path / "missing": "no file",
        plain: "not executable",
        Path("/bin/true"): "Python 3",
        make_python(tmp_path / "bare", version=None): "no module 'tinyframework'",
        make_python(tmp_path / "newer", version="2.5"): r"2\.5, not >=1,<2",
        make_python(tmp_path / "lone", numpy=False): "no numpy",
    }
    for path, complaint in cases.items():
        with pytest.raises(NetdynoError, match=complaint):
            find_interpreter(tiny, {"tiny": Interpreter(path=path, origin="given")})


@pytest.mark.parametrize("name", ["reference", "null"])
def test_a_framework_without_requirements_runs_in_the_current_interpreter(name: str) -> None:
    found = find_interpreter(find_spec(name), {})
    assert (found.origin, found.path) == ("current", Path(sys.executable))


def test_an_environment_without_marker_python_or_module_is_not_complete(tiny: Spec) -> None:
    environment = _install_by_hand(tiny)
    assert is_complete(tiny, environment)
    marker = environment / MARKER
    text = marker.read_text()
    marker.write_text(text[:-1])
    assert not is_complete(tiny, environment)
    marker.write_text(text)
    next(environment.glob("lib/python*/site-packages/tinyframework.py")).unlink()
    assert not is_complete(tiny, environment)


def test_looking_for_a_framework_makes_no_folder(tiny: Spec, home: Path) -> None:
    locate(tiny, {})
    assert not home.exists()


def test_given_interpreters_are_read_from_name_and_path() -> None:
    assert read_given(["jax=/opt/python"])["jax"].path == Path("/opt/python")
    with pytest.raises(NetdynoError, match="NAME=PATH"):
        read_given(["jax"])
    with pytest.raises(NetdynoError, match="no framework named"):
        read_given(["jux=/opt/python"])
