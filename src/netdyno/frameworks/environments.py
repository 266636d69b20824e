"""Where a framework is installed: in an interpreter the user names, the current one, or netdyno's environment."""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from netdyno.errors import NetdynoError
from netdyno.frameworks.home import home_path
from netdyno.frameworks.interpreters import Probe, probe
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.frameworks.versions import fits

MARKER = "netdyno.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python that has the framework; `origin` is 'given', 'current' or 'installed'."""

    path: Path
    origin: str
    module_path: tuple[str, ...] = ()  # folders of modules that are not on the Python's own path
    version: str = ""  # of the framework's distribution; empty where that is not known


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What is written into an environment when it is finished."""

    framework: str
    requirements: tuple[str, ...] = ()
    index: str = ""  # the extra package index that was used
    versions: dict[str, str] = {}  # of every distribution
    python: str = ""
    made_at: str = ""
    seconds: float = 0.0  # that installing took
    bytes: int = 0  # on disk
    misfits: tuple[str, ...] = ()  # files whose size never was the one that their distribution lists


Given = Mapping[str, Interpreter]
"""The interpreters a user named, by framework."""


def find_interpreter(spec: Spec, given: Given) -> Interpreter:
    """Where to run the framework; if it is nowhere, an error that says how to get it."""
    found = locate(spec, given)
    if found is not None:
        return found
    if spec.program:
        raise NetdynoError(
            f"'{spec.name}' needs the command '{spec.runs_with}', which is not on PATH.",
            hint=f"Install it, or name it: --python {spec.name}=/path/to/{spec.runs_with}",
        )
    if spec.unavailable:
        raise NetdynoError(f"'{spec.name}' is not on this machine and has nothing to install: {spec.unavailable}")
    if not spec.requirements:
        raise NetdynoError(
            f"'{spec.name}' runs in the current interpreter, which lacks {spec.distribution} {spec.versions}"
            " in its own packages (a user's site folder does not count).",
            hint=f"Install {spec.distribution} into it.",
        )
    raise NetdynoError(
        f"'{spec.name}' is not on this machine: neither in the current interpreter nor installed.",
        hint=f"Install it with: netdyno frameworks install {spec.name}",
    )


def locate(spec: Spec, given: Given) -> Interpreter | None:
    """The same, but None if the framework is nowhere; an unsuitable `given` interpreter is still an error."""
    if spec.program:
        command = shutil.which(spec.runs_with)
        return given.get(spec.name) or (Interpreter(path=Path(command), origin="current") if command else None)
    if spec.name in given:
        return _checked(spec, given[spec.name])
    problem, version = _problem(spec, Interpreter(path=Path(sys.executable), origin="current"))
    if not problem:
        return Interpreter(path=Path(sys.executable), origin="current", version=version)
    answer = _complete(spec, environment_of(spec)) if spec.requirements else None
    if answer is None:
        return None
    return Interpreter(path=python_in(environment_of(spec)), origin="installed", version=answer.version)


def read_given(options: Iterable[str]) -> dict[str, Interpreter]:
    """The interpreters a user named as NAME=PATH; folders of modules may follow, separated as in PATH."""
    given = {}
    for option in options:
        name, equals, path = option.partition("=")
        if not equals or not path:
            raise NetdynoError(f"--python: expected NAME=PATH, received '{option}'.")
        python, *modules = (os.path.abspath(os.path.expanduser(part)) for part in path.split(os.pathsep))
        for folder in modules:
            if not os.path.isdir(folder):
                raise NetdynoError(f"--python {name}: expected a folder of modules, received '{folder}'.")
        given[find_spec(name).name] = Interpreter(path=Path(python), origin="given", module_path=tuple(modules))
    return given


def environment_of(spec: Spec) -> Path:
    """The folder of the framework's environment on this machine, whether or not it exists."""
    return home_path() / "environments" / f"{spec.name}-{spec.digest(has_nvidia_gpu())}"


def python_in(environment: Path) -> Path:
    """Not resolved: the link's target is a Python without the environment's packages."""
    return environment / "bin" / "python"


def packages_in(environment: Path) -> Path:
    """Where pip put the packages; a path that does not exist if there are none."""
    return next(iter(environment.glob("lib/python3*/site-packages")), environment / "lib")


def is_complete(spec: Spec, environment: Path) -> bool:
    """Whether an environment was finished and still contains the framework."""
    return _complete(spec, environment) is not None


def read_marker(environment: Path) -> Marker | None:
    """The marker of an environment; None if it was never finished."""
    try:
        return msgspec.json.decode((environment / MARKER).read_bytes(), type=Marker)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def has_nvidia_gpu() -> bool:
    """Whether to install builds for one: the driver or its tool is present."""
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def _complete(spec: Spec, environment: Path) -> Probe | None:
    """What the Python of a finished environment says of the framework; None if something is missing."""
    if read_marker(environment) is None or not os.access(python_in(environment), os.X_OK):
        return None
    answer = probe(python_in(environment), spec)
    return answer if answer is not None and answer.has_module else None


def _checked(spec: Spec, given: Interpreter) -> Interpreter:
    problem, version = _problem(spec, given)
    if problem:
        raise NetdynoError(f"--python {spec.name}: expected a Python with {spec.title}, received {problem}.")
    return replace(given, version=version)


def _problem(spec: Spec, interpreter: Interpreter) -> tuple[str, str]:
    """Why the framework cannot run there, or nothing; and its version."""
    python = interpreter.path
    if not spec.adapter:
        return f"{python}, for which there is no adapter: {spec.unavailable}", ""
    if not python.is_file():
        return f"{python}, which is no file", ""
    if not os.access(python, os.X_OK):
        return f"{python}, which is not executable", ""
    answer = probe(python, spec, interpreter.module_path)
    if answer is None:
        return f"{python}, which does not answer as a Python 3 does", ""
    if not answer.has_module:
        return f"{python}, which has no module '{answer.missing}'", ""
    # A framework that is on no index has no metadata with its version.
    version_known = answer.version or not spec.unavailable
    if version_known and not fits(answer.version, spec.versions):
        return f"{python} with {spec.distribution} {answer.version or 'unknown'}, not {spec.versions}", ""
    return "" if answer.has_numpy else f"{python}, which has no numpy", answer.version
