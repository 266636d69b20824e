"""Libraries that no package brings are compiled into the environment, or one line says why not."""

import ctypes
import shutil
import subprocess

import pytest
from tests.frameworks.making import write_spec

from netdyno.errors import NetdynoError
from netdyno.frameworks.install.shared_objects import compile_shared_objects
from netdyno.frameworks.spec import read_spec

SOURCE = "int answer = 41;\nint next(void) { return answer + 1; }\n"
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler: apt install gcc")


def _spec(folder, target="tiny/libs/libtiny.so.12", source=SOURCE):
    path = write_spec(folder)
    path.with_name("tiny.c").write_text(source)
    path.write_text(f'{path.read_text()}[shared_objects]\n"{target}" = "tiny.c"\n')
    return read_spec(path)


def _run(command):
    return subprocess.run(command, check=False, capture_output=True).returncode


@needs_compiler
def test_a_source_becomes_a_library_that_can_be_loaded(tmp_path):
    compile_shared_objects(_spec(tmp_path / "specs"), tmp_path / "packages", _run)
    library = ctypes.CDLL(str(tmp_path / "packages" / "tiny" / "libs" / "libtiny.so.12"))
    assert library.next() == 42
    assert ctypes.c_int.in_dll(library, "answer").value == 41


@needs_compiler
def test_a_source_that_does_not_compile_is_named(tmp_path):
    spec = _spec(tmp_path / "specs", source="int next(void) { return")
    with pytest.raises(NetdynoError, match=r"tiny: .* could not compile tiny\.c into tiny/libs/libtiny\.so\.12"):
        compile_shared_objects(spec, tmp_path / "packages", _run)


def test_a_machine_without_a_compiler_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    commands = []
    with pytest.raises(NetdynoError) as caught:
        compile_shared_objects(_spec(tmp_path / "specs"), tmp_path / "packages", lambda c: commands.append(c) or 0)
    assert str(caught.value) == (
        "tiny: expected a C compiler (cc, gcc or clang), received none. "
        "Install one, on Debian or Ubuntu with: apt install gcc libc6-dev"
    )
    assert commands == []


@needs_compiler
@pytest.mark.parametrize("target", ["../outside.so", "/outside.so", "."])
def test_a_target_outside_the_environment_is_refused(tmp_path, target):
    commands = []
    with pytest.raises(NetdynoError, match="below site-packages"):
        compile_shared_objects(
            _spec(tmp_path / "specs", target), tmp_path / "packages", lambda c: commands.append(c) or 0
        )
    assert commands == []


def test_a_spec_without_shared_objects_needs_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    compile_shared_objects(read_spec(write_spec(tmp_path)), tmp_path / "packages", _run)
