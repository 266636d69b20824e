"""Environments are made once, whoever asks, and never half. Packages come from a hand-made wheel."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import hear_ctrl_c

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import environment_of, find_interpreter, is_complete, read_marker
from netdyno.frameworks.install import packages
from netdyno.frameworks.install.framework import install
from netdyno.frameworks.install.packages import is_reachable
from netdyno.frameworks.spec import Spec, find_spec

INSTALL = """
import pathlib, sys
from netdyno.frameworks.install import framework
from netdyno.frameworks.spec import find_spec
framework.fitting_python = lambda spec: pathlib.Path(sys.argv[1])
print(framework.install(find_spec("tiny"), report=lambda text: print(text, file=sys.stderr, flush=True)))
"""
SOURCE = Path(__file__).parents[3] / "src"


def _installer(python: Path, **changes: str) -> "subprocess.Popen[str]":
    variables = os.environ | {"PYTHONPATH": str(SOURCE)} | changes
    return subprocess.Popen(
        [sys.executable, "-c", INSTALL, str(python)],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,
    )


def _stuck_installer(python: Path, index: str, environment: Path) -> "subprocess.Popen[str]":
    """One whose pip waits for an index that never answers."""
    process = _installer(python, PIP_NO_INDEX="0", PIP_INDEX_URL=index)
    _wait_until(lambda: "Looking in indexes" in _log(environment))
    return process


@pytest.fixture
def stuck_index() -> Iterator[str]:
    """A package index that takes every call and never answers, until the test ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_an_installed_framework_is_found_and_not_made_again(tiny: Spec, offline: Path) -> None:
    said: list[str] = []
    environment = install(tiny, report=said.append)
    assert environment == environment_of(tiny)
    assert find_interpreter(tiny, {}).origin == "installed"
    marker = read_marker(environment)
    assert marker is not None
    assert marker.versions["tinyframework"] == "1.0"
    assert marker.requirements == ("tinyframework==1.0",)
    assert marker.bytes > 0
    assert not (environment / "tmp").exists()

    again: list[str] = []
    install(tiny, report=again.append)
    assert read_marker(environment) == marker
    assert not any("making" in text for text in again)


def test_a_damaged_environment_is_repaired(tiny: Spec, offline: Path) -> None:
    environment = install(tiny, report=lambda _: None)
    (environment / "bin" / "python").unlink()
    (environment / "leftover").write_text("")
    assert not is_complete(tiny, environment)
    install(tiny, report=lambda _: None)
    assert is_complete(tiny, environment)
    assert not (environment / "leftover").exists()


def test_of_two_processes_one_installs_and_both_use_it(tiny: Spec, offline: Path, bare_python: Path) -> None:
    both = [_installer(bare_python), _installer(bare_python)]
    answers = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert {out.strip() for out, _ in answers} == {str(environment_of(tiny))}
    assert sum("making an environment" in err for _, err in answers) == 1


def test_killed_in_the_middle_it_is_not_used_and_made_anew(
    tiny: Spec, offline: Path, bare_python: Path, stuck_index: str
) -> None:
    environment = environment_of(tiny)
    process = _stuck_installer(bare_python, stuck_index, environment)
    # The whole session at once: the parent gets no chance to clean up, and no orphan stays behind.
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert environment.exists()
    assert not is_complete(tiny, environment)
    install(tiny, report=lambda _: None)
    assert is_complete(tiny, environment)


def test_an_orphaned_pip_still_keeps_others_out(
    tiny: Spec, offline: Path, bare_python: Path, stuck_index: str
) -> None:
    process = _stuck_installer(bare_python, stuck_index, environment_of(tiny))
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    said: list[str] = []
    second = threading.Thread(target=install, args=(tiny,), kwargs={"report": said.append})
    second.start()
    _wait_until(lambda: any("waiting" in text for text in said))
    assert not any("making" in text for text in said)
    os.killpg(process.pid, signal.SIGKILL)
    second.join(timeout=120)
    assert is_complete(tiny, environment_of(tiny))


def test_ctrl_c_leaves_nothing_behind(tiny: Spec, offline: Path, bare_python: Path, stuck_index: str) -> None:
    process = _stuck_installer(bare_python, stuck_index, environment_of(tiny))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in err
    assert not environment_of(tiny).exists()


def test_a_broken_pin_is_one_line_with_the_log_and_leaves_nothing(tiny: Spec, offline: Path) -> None:
    broken = replace(tiny, requirements=("tinyframework==9.9",))
    with pytest.raises(NetdynoError, match=r"tinyframework==9\.9.*No matching distribution.*\.log") as caught:
        install(broken, report=lambda _: None)
    assert "\n" not in str(caught.value)
    assert not environment_of(broken).exists()
    assert "No matching distribution" in _log(environment_of(broken))


def test_pins_without_the_module_do_not_count_as_installed(tiny: Spec, offline: Path) -> None:
    with pytest.raises(NetdynoError, match="no module 'elsewhere'"):
        install(replace(tiny, module="elsewhere"), report=lambda _: None)
    assert not environment_of(tiny).exists()


def test_without_ensurepip_the_current_pip_fills_the_environment(tiny: Spec, offline: Path) -> None:
    environment = install(tiny, report=lambda _: None)
    assert is_complete(tiny, environment)
    assert not list(environment.glob("lib/python*/site-packages/pip"))


def test_with_ensurepip_the_environment_has_its_own_pip(
    tiny: Spec, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netdyno.frameworks.install.framework.fitting_python", lambda spec: Path(sys.executable))
    environment = install(tiny, report=lambda _: None)
    assert is_complete(tiny, environment)
    assert list(environment.glob("lib/python*/site-packages/pip"))


def test_without_any_pip_the_error_says_so(tiny: Spec, offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(NetdynoError, match=r"ensurepip.*has pip"):
        install(tiny, report=lambda _: None)
    assert not environment_of(tiny).exists()


def test_an_unreachable_cpu_index_is_passed_over_without_waiting(tiny: Spec, offline: Path) -> None:
    started = time.monotonic()
    assert not is_reachable(_closed_port())
    assert time.monotonic() - started < 2
    said: list[str] = []
    spec = replace(tiny, cpu_index=_closed_port())
    environment = install(spec, report=said.append)
    assert any("cannot be reached" in text for text in said)
    marker = read_marker(environment)
    assert marker is not None
    assert marker.index == ""


def test_an_index_that_never_answers_is_given_up_in_time(stuck_index: str) -> None:
    started = time.monotonic()
    assert not is_reachable(stuck_index, limit_s=0.3)
    assert time.monotonic() - started < 2


def test_a_cpu_index_that_fails_is_tried_once_more_without(
    tiny: Spec, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "is_reachable", lambda index: True)
    calls: list[list[str]] = []
    real = packages.run_logged

    def run(work: packages.Work, command: list[str]) -> int:
        calls.append(command)
        return 1 if "--extra-index-url" in command else real(work, command)

    monkeypatch.setattr(packages, "run_logged", run)
    install(replace(tiny, cpu_index="http://index.invalid"), report=lambda _: None)
    assert ["--extra-index-url" in command for command in calls if "install" in command] == [True, False]


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "no space left on the disk"),
        ("NewConnectionError(...)\nERROR: No matching distribution", "index cannot be reached"),
        ("", "no output"),
    ],
)
def test_the_log_is_put_into_words(output: str, complaint: str) -> None:
    log = f"$ python -m venv x\nERROR: of before\n$ pip install y\n{output}\n"
    assert complaint in packages._reason(log)
    assert "of before" not in packages._reason(log)


def test_a_full_disk_is_an_error_of_one_line(tiny: Spec, offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(work: packages.Work, python: Path) -> list[str]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("netdyno.frameworks.install.framework.make_venv", full)
    with pytest.raises(NetdynoError, match="No space left"):
        install(tiny, report=lambda _: None)


def test_a_framework_of_the_current_interpreter_has_nothing_to_install(home: Path) -> None:
    said: list[str] = []
    assert install(find_spec("reference"), report=said.append) == Path(sys.prefix)
    assert "nothing to install" in said[0]
    assert not home.exists()


def _closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def _log(environment: Path) -> str:
    log = environment.with_name(environment.name + ".log")
    return log.read_text() if log.exists() else ""


def _wait_until(condition: Callable[[], bool], limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(0.05)
