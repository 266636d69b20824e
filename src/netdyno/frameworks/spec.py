"""What netdyno knows about a framework: its adapter, its pins, the Pythons it runs on, what it can do.

A spec is one TOML file. Those of the package are in `specs/`; NETDYNO_SPECS names folders with more,
separated as in PATH, so that a framework can be added without changing the package.
"""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as made_by
from functools import cache
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError, unknown
from netdyno.frameworks.versions import is_range

SPECS = Path(__file__).with_name("specs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One framework. Without requirements it runs in netdyno's own interpreter, or in one that a user names."""

    name: str
    title: str
    adapter: str  # module of netdyno_worker.adapters
    module: str  # what importing the framework imports
    distribution: str  # what the package index calls it
    versions: str  # of the distribution, in an interpreter the user already has
    python: str
    requirements: tuple[str, ...]
    devices: tuple[str, ...]
    executions: tuple[str, ...]
    precisions: tuple[str, ...]
    executions_cuda: tuple[str, ...] = ()  # which it has in addition on an NVIDIA GPU
    requirements_cuda: tuple[str, ...] = ()  # in place of `requirements` where there is an NVIDIA GPU
    keeps_compiled: bool = False  # on disk, so that the next process does not compile again
    imports_without_device: bool = False  # importing it uses no GPU, so that it may happen during another run
    lowered: tuple[str, ...] = ()  # composite ops that the adapter has fused, but this version has no kernel for
    native_format: str = ""  # of the files that its own input pipeline reads; none if it has no pipeline
    compile_cache: str = ""  # the variable that names the folder in which it keeps what it compiled
    cpu_index: str = ""  # an extra package index with smaller builds, where there is no GPU
    other_distributions: tuple[str, ...] = ()  # which contain the same module
    needs: tuple[str, ...] = ()  # modules it requires besides `module`
    variables: Mapping[str, str] = made_by(default_factory=dict, hash=False)  # of the worker's environment
    heeds: tuple[str, ...] = ()  # prefixes of environment variables that change how it computes
    shared_objects: Mapping[str, Path] = made_by(
        default_factory=dict, hash=False
    )  # path in site-packages: C source to compile
    program: Path | None = None  # a worker in another language; in the TOML relative to it
    runs_with: str = ""  # the command on PATH that runs `program`
    unavailable: str = ""  # why there is nothing to install, and what to do instead
    era: str = ""
    note: str = ""
    worker_path: Path | None = None  # extra adapter code, a folder or file; in the TOML relative to it

    @property
    def is_instrument(self) -> bool:
        """Part of netdyno, such as the oracle: it needs no proof."""
        return not (self.requirements or self.unavailable or self.program)

    def executions_on(self, device: str) -> tuple[str, ...]:
        """Every execution that it has on the device."""
        return self.executions + (self.executions_cuda if device == "cuda" else ())

    def pins(self, gpu: bool) -> tuple[str, ...]:
        """What to install on a machine with or without an NVIDIA GPU."""
        return self.requirements_cuda if gpu and self.requirements_cuda else self.requirements

    def index(self, gpu: bool) -> str:
        """The extra package index to use there; empty for none."""
        return "" if gpu else self.cpu_index

    def digest(self, gpu: bool) -> str:
        """Ten hex digits over what decides an environment's contents: other pins are another environment."""
        sources = {target: source.read_text(encoding="utf-8") for target, source in self.shared_objects.items()}
        contents = json.dumps([self.pins(gpu), self.python, self.index(gpu), *([sources] if sources else [])])
        return hashlib.sha256(contents.encode()).hexdigest()[:10]


def specs() -> dict[str, Spec]:
    """Every framework by name, those of NETDYNO_SPECS included."""
    found: dict[str, Spec] = {}
    sources: dict[str, str] = {}
    for file in _files():
        spec = _read_once(file, file.stat().st_mtime_ns, file.stat().st_size)
        if spec.name in found:
            raise _malformed(file, "name", f"one not used by {sources[spec.name]}", spec.name)
        found[spec.name] = spec
        sources[spec.name] = str(file)
    return dict(sorted(found.items()))


def find_spec(name: str) -> Spec:
    """The framework of that name, or the error that names the nearest."""
    known = specs()
    if name not in known:
        raise unknown("framework", name, known)
    return known[name]


@cache
def _read_once(file: Path, mtime_ns: int, size: int) -> Spec:
    """Parse each file once per process, and again when it has changed."""
    return read_spec(file)


def read_spec(file: Path) -> Spec:
    """One TOML file as a Spec; what is missing, unknown or of the wrong type is named with the file."""
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise NetdynoError(f"{file}: expected a TOML file of a framework, received: {error}.") from error
    known = [*_TEXTS, *_LISTS, *_TABLES, *_FLAGS]
    for name in sorted(values.keys() - set(known)):
        raise _malformed(file, name, f"a field among {', '.join(known)}", name)
    checked: dict[str, Any] = {name: _text(file, values, name) for name in _TEXTS}
    checked.update((name, _list(file, values, name)) for name in _LISTS)
    checked.update((name, _table(file, values, name)) for name in _TABLES)
    checked.update((name, _flag(file, values, name)) for name in _FLAGS)
    if not (checked["adapter"] or checked["program"] or checked["unavailable"]):
        raise _malformed(file, "adapter", _TEXTS["adapter"][1], None)
    for name in ("worker_path", "program"):
        checked[name] = _beside(file, name, checked[name])
    objects = checked["shared_objects"].items()
    checked["shared_objects"] = {target: _beside(file, "shared_objects", source) for target, source in objects}
    return Spec(**checked)


_ANY = re.compile(r".*", re.DOTALL)
_SOME = re.compile(r".*\S.*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9].*")  # a requirement that starts with '-' would be an option of pip
# Field: its pattern, and the pattern in words. A text that may be empty may be omitted.
_TEXTS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "name": (re.compile(r"[a-z0-9][a-z0-9._-]*"), "lower-case letters, digits, '.', '_' or '-'"),
    "title": (_SOME, "a text"),
    "adapter": (re.compile(r"([A-Za-z_]\w*)?"), "the name of an adapter module"),
    "module": (re.compile(r"[A-Za-z_]\w*"), "the name of a top-level module"),
    "distribution": (_WORD, "the name of a distribution"),
    "versions": (_SOME, "a range such as '>=2,<3'"),
    "python": (_SOME, "a range such as '>=3.11,<3.15'"),
    "cpu_index": (re.compile(r"(https?://\S+)?"), "an http(s) address"),
    "compile_cache": (re.compile(r"([A-Z][A-Z0-9_]*)?"), "the name of an environment variable"),
    "native_format": (re.compile(r"[a-z_]*"), "the name of a format"),
    "unavailable": (_ANY, "a text"),
    "era": (re.compile(r"2018|last|today|"), "'2018', 'last' or 'today'"),
    "note": (_ANY, "a text"),
    "worker_path": (_ANY, "a path relative to the TOML file"),
    "program": (_ANY, "a path relative to the TOML file"),
    "runs_with": (_ANY, "the name of a command"),
}
_FLAGS = ("keeps_compiled", "imports_without_device")
_LISTS: Mapping[str, bool] = {  # field: whether it may be omitted
    "requirements": False,
    "devices": False,
    "executions": False,
    "precisions": False,
    "executions_cuda": True,
    "requirements_cuda": True,
    "needs": True,
    "other_distributions": True,
    "heeds": True,
    "lowered": True,
}
_TABLES = ("variables", "shared_objects")


def _files() -> Iterator[Path]:
    yield from sorted(SPECS.glob("*.toml"))
    for name in filter(None, os.environ.get("NETDYNO_SPECS", "").split(os.pathsep)):
        folder = Path(name).expanduser().absolute()
        if not folder.is_dir():
            raise NetdynoError(f"NETDYNO_SPECS: expected folders with TOML files, received '{name}'.")
        yield from sorted(folder.glob("*.toml"))


def _text(file: Path, values: Mapping[str, object], field: str) -> str:
    pattern, words = _TEXTS[field]
    value = values.get(field, "")
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise _malformed(file, field, words, value if field in values else None)
    if field in ("versions", "python") and not is_range(value):
        raise _malformed(file, field, words, value)
    return value


def _list(file: Path, values: Mapping[str, object], field: str) -> tuple[str, ...]:
    if field not in values and _LISTS[field]:
        return ()
    value = values.get(field)
    if not isinstance(value, list) or not all(isinstance(v, str) and _WORD.fullmatch(v) for v in value):
        raise _malformed(file, field, "a list of texts", value)
    if not value and not field.startswith("requirements"):
        raise _malformed(file, field, "at least one", value)
    return tuple(value)


def _table(file: Path, values: Mapping[str, object], field: str) -> dict[str, str]:
    value = values.get(field, {})
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise _malformed(file, field, "a table of texts", value)
    return value


def _flag(file: Path, values: Mapping[str, object], field: str) -> bool:
    value = values.get(field, False)
    if not isinstance(value, bool):
        raise _malformed(file, field, "true or false", value)
    return value


def _beside(file: Path, field: str, relative: str) -> Path | None:
    if not relative:
        return None
    path = file.parent.joinpath(relative).absolute()
    if not path.exists():
        raise _malformed(file, field, "a folder or file that exists", relative)
    return path


def _malformed(file: Path, field: str, expected: str, received: object) -> NetdynoError:
    what = "nothing" if received is None else repr(received)
    return NetdynoError(f"{file}, field '{field}': expected {expected}, received {what}.")
