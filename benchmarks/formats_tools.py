"""Where do the public tools live? In environments that are made for one run, and in those of their frameworks."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from netdyno.frameworks.environments import locate
from netdyno.frameworks.spec import find_spec

PACKAGES = {
    "packages": ["simplejpeg", "pillow", "lmdb", "tfrecord", "webdataset", "numpy", "protobuf"],
    "pillow-simd": ["pillow-simd", "numpy"],  # built from source: it needs a compiler and libjpeg's headers
}
FRAMEWORKS = ("tensorflow-2", "mxnet-1.9")


@dataclass(frozen=True)
class Tools:
    """Interpreters by the name of what they have; why others are missing."""

    pythons: Mapping[str, Path]
    missing: Mapping[str, str]

    @classmethod
    def install(cls, folder: Path) -> "Tools":
        pythons: dict[str, Path] = {}
        missing: dict[str, str] = {}
        for name, packages in PACKAGES.items():
            if error := install(folder / name, packages):
                missing[name] = error
            else:
                pythons[name] = folder / name / "bin" / "python"
        for name in FRAMEWORKS:
            if found := locate(find_spec(name), {}):
                pythons[name] = found.path
            else:
                missing[name] = f"not installed: netdyno frameworks install {name}"
        return cls(pythons, missing)


def install(folder: Path, packages: list[str]) -> str:
    """Into an environment of their own; the last line of what went wrong, else nothing."""
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    for command in ([sys.executable, "-m", "venv", str(folder)], [*pip, *packages]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stderr or done.stdout).strip().splitlines()[-1][:60]
    return ""
