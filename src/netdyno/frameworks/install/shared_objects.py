"""Compile a library that no package contains into an environment, from a small C source.

For frameworks linked against a library that distributions no longer have and that only needs to exist.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from netdyno.errors import NetdynoError
from netdyno.frameworks.spec import Spec

COMPILERS = ("cc", "gcc", "clang")


def compile_shared_objects(spec: Spec, site_packages: Path, run: Callable[[list[str]], int]) -> None:
    """Compile each of the spec's shared objects to its place below `site_packages`.

    `run` executes a command, logs its output and returns its exit code.
    """
    if not spec.shared_objects:
        return
    compiler = _compiler(spec)
    for target, source in spec.shared_objects.items():
        path = _place(spec, site_packages, target)
        path.parent.mkdir(parents=True, exist_ok=True)
        # The loader knows a library by its soname, and would load one without it a second time under another path.
        name = f"-Wl,-soname,{path.name}"
        if run([compiler, "-shared", "-fPIC", "-O1", name, "-o", str(path), str(source)]) != 0:
            raise NetdynoError(f"{spec.name}: {compiler} could not compile {source.name} into {target}.")


def _compiler(spec: Spec) -> str:
    for name in COMPILERS:
        if path := shutil.which(name):
            return path
    raise NetdynoError(
        f"{spec.name}: expected a C compiler (cc, gcc or clang), received none.",
        hint="Install one, on Debian or Ubuntu with: apt install gcc libc6-dev",
    )


def _place(spec: Spec, site_packages: Path, target: str) -> Path:
    """Where a target goes; one that leaves the environment is refused."""
    path = Path(os.path.normpath(site_packages / target))
    if not path.is_relative_to(site_packages) or path == site_packages:
        raise NetdynoError(f"{spec.name}: expected a shared object below site-packages, received '{target}'.")
    return path
