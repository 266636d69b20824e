"""The packed worker: one file, the same bytes every time, run by every Python from 3.6 on."""

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from netdyno.errors import NetdynoError
from netdyno.runtime.worker_file import check_worker, is_intact, pack_worker, worker_hash

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.6", "3.11", "3.12", "3.13")
ENVIRONMENTS = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "netdyno-test-pythons"


def test_packing_twice_gives_the_same_bytes(tmp_path):
    first, second = pack_worker(tmp_path / "a"), pack_worker(tmp_path / "b")
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    assert len(worker_hash(first)) == 16


def test_a_packed_worker_is_not_packed_again(tmp_path):
    path = pack_worker(tmp_path)
    before = path.stat().st_mtime_ns
    assert pack_worker(tmp_path).stat().st_mtime_ns == before


def _truncated(path):
    path.write_bytes(path.read_bytes()[:-100])


def _replaced(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__main__.py", "print('not the worker')")


def _with_one_more_file(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("numpy/__init__.py", "")


@pytest.mark.parametrize("spoil", [_truncated, _replaced, _with_one_more_file, Path.unlink])
def test_a_packed_worker_that_was_changed_is_packed_again_before_it_starts(tmp_path, spoil):
    path = pack_worker(tmp_path)
    genuine = path.read_bytes()
    spoil(path)
    assert not is_intact(path)
    check_worker(path)
    assert path.read_bytes() == genuine


def test_a_changed_worker_of_another_netdyno_is_not_started(tmp_path):
    path = pack_worker(tmp_path).rename(tmp_path / f"worker-{'0' * 16}.pyz")
    with pytest.raises(NetdynoError, match="was changed"):
        check_worker(path)


@pytest.fixture(params=PYTHONS)
def python(request):
    """A Python of that version with numpy, kept between test runs; missing ones skip, except in CI."""
    environment = ENVIRONMENTS / request.param
    python = environment / "bin" / "python"
    if not (environment / "complete").exists():
        base = _find_python(request.param)
        if base is None:
            message = f"Python {request.param} is missing: install it, for example with pyenv"
            pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([base, "-m", "venv", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy"], check=True)
        (environment / "complete").touch()
    return python


def test_the_workers_own_tests_pass_under_this_python(python):
    done = subprocess.run(
        [python, "-m", "unittest", "discover", "-s", "tests/worker"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "OK" in done.stderr


@pytest.mark.parametrize("framework", ["null", "reference"])
def test_the_packed_worker_measures_under_this_python(netdyno, python, framework):
    cell = ("--framework", framework, "--network", "lenet", "--batch", "2", "--runs", "1", "--seconds", "0.3")
    done = netdyno("run", *cell, "--python", f"{framework}={python}")
    assert done.returncode == 0, done.stderr
    (result,) = netdyno.json("results")
    assert result["outcome"] == "measured"
    (events,) = (netdyno.home / "runs").glob("*/rank0/events.jsonl")
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert told[0]["python"].startswith(python.parent.parent.name)
    assert told[1]["weights"] == "34508e32279f2a75"


def _find_python(version):
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")
