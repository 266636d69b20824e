"""The suites that come with netdyno: one TOML file each, run by name."""

import tomllib
from importlib import resources
from pathlib import Path

from netdyno.errors import unknown

DEFAULT = "default"


def find_suite(name_or_path: str) -> Path:
    """The file of a bundled suite by its name, or the path as it is."""
    if name_or_path.endswith(".toml") or "/" in name_or_path:
        return Path(name_or_path)
    bundled = {path.stem: path for path in _folder().glob("*.toml")}
    if name_or_path not in bundled:
        raise unknown("suite", name_or_path, bundled)
    return bundled[name_or_path]


def default_framework() -> str:
    """The framework that a user meets first: the one of the default suite."""
    data = tomllib.loads(find_suite(DEFAULT).read_text(encoding="utf-8"))
    name: str = data["matrix"]["framework"]
    return name


def _folder() -> Path:
    return Path(str(resources.files(__name__)))
