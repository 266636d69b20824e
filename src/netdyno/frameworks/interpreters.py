"""Which Pythons this machine has, and what one of them contains."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from netdyno.errors import NetdynoError
from netdyno.frameworks.spec import Spec
from netdyno.frameworks.versions import fits, lowest

PROBE_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What an interpreter reports about itself and one framework, without importing the framework."""

    python: str
    missing: str  # the first of the framework's modules that is not installed; empty if all are
    has_numpy: bool
    version: str  # of the distribution; empty if unknown

    @property
    def has_module(self) -> bool:
        return not self.missing


def probe(python: Path, spec: Spec, module_path: Sequence[str] = ()) -> Probe | None:
    """None if it is no Python 3. Isolated (-I) like workers: user site and PYTHONPATH do not count."""
    names = [spec.distribution, *spec.other_distributions]
    asked = {"modules": [spec.module, *spec.needs], "distributions": names, "path": list(module_path)}
    answer = _answer(python, _PROBE, json.dumps(asked))
    if answer is None:
        return None
    try:
        return Probe(**json.loads(answer))
    except (ValueError, TypeError):
        return None


def python_version(python: Path) -> str:
    """Such as '3.11.7'; empty if this is no Python 3 that starts."""
    version = _answer(python, "import sys; print('%d.%d.%d' % sys.version_info[:3])") or ""
    return version if re.fullmatch(r"\d+\.\d+\.\d+", version) else ""


def fitting_python(spec: Spec) -> Path:
    """The interpreter for the framework's environment: the current one if it fits, else the newest that fits on PATH,
    of pyenv, of conda or of uv."""
    seen = []
    for python in _candidates():
        version = python_version(python)
        if version and fits(version, spec.python):
            return python
        if version:
            seen.append(version)
    raise NetdynoError(
        f"'{spec.name}' needs Python {spec.python}; this machine has {', '.join(dict.fromkeys(seen))}.",
        hint=f"Install one that fits with: {_install_command(lowest(spec.python) or spec.python)}",
    )


# Python 3.6 must understand this.
_PROBE = """
import importlib.util, json, sys

def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False

def version(name):
    try:
        from importlib.metadata import version as find
    except ImportError:
        try:
            from pkg_resources import get_distribution
        except ImportError:
            return ""
        find = lambda name: get_distribution(name).version
    try:
        return find(name) or ""
    except Exception:
        return ""

asked = json.loads(sys.argv[1])
sys.path[:0] = asked["path"]
print(json.dumps({
    "python": "%d.%d.%d" % sys.version_info[:3],
    "missing": ([name for name in asked["modules"] if not has(name)] + [""])[0],
    "has_numpy": has("numpy"),
    "version": ([found for found in map(version, asked["distributions"]) if found] + [""])[0],
}))
"""


def _answer(python: Path, code: str, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            [str(python), "-I", "-c", code, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PROBE_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def _candidates() -> Iterator[Path]:
    yield Path(sys.executable)
    for minor in range(20, 5, -1):
        if found := shutil.which(f"python3.{minor}"):
            yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser()
    yield from sorted(pyenv.glob("versions/*/bin/python"), key=_release, reverse=True)
    yield from _of_conda()
    shared = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser()
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or shared / "uv" / "python")
    yield from sorted(uv.glob("cpython-*/bin/python3"), key=_release, reverse=True)


def _of_conda() -> Iterator[Path]:
    """Conda lists its environments in one file, whichever of its flavours made them."""
    try:
        listed = Path("~/.conda/environments.txt").expanduser().read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for folder in filter(None, listed):
        python = Path(folder) / "bin" / "python"
        if python.is_file():
            yield python


def _install_command(version: str) -> str:
    """That of a tool that is installed, else pyenv's; uv has no Python before 3.8."""
    minor = int(version.split(".")[1]) if "." in version else 0
    if shutil.which("pyenv") is None:
        if shutil.which("uv") and minor >= 8:
            return f"uv python install {version}"
        if shutil.which("conda"):
            return f"conda create -n python{version} python={version}"
    return f"pyenv install {version}"


def _release(python: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", python.parent.parent.name))
