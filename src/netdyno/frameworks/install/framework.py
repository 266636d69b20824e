"""Install or remove the environment of one framework.

An environment is valid only with its marker file, which is written last and by renaming. The process that makes one
holds a lock; a second process waits for the first and uses its environment.
"""

import contextlib
import fcntl
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import (
    MARKER,
    Marker,
    environment_of,
    has_nvidia_gpu,
    is_complete,
    packages_in,
    python_in,
    read_marker,
)
from netdyno.frameworks.home import home
from netdyno.frameworks.install.damage import find_misfits, first_damaged
from netdyno.frameworks.install.packages import (
    Work,
    bytes_in,
    failure,
    install_packages,
    installed_versions,
    make_venv,
    renew_pip,
    run_logged,
    write_lock,
)
from netdyno.frameworks.install.shared_objects import compile_shared_objects
from netdyno.frameworks.interpreters import fitting_python, probe, python_version
from netdyno.frameworks.spec import Spec


def install(spec: Spec, *, report: Callable[[str], None]) -> Path:
    """The framework's environment, made if it is missing or damaged. `report` gets each progress message."""
    if spec.unavailable:
        raise NetdynoError(f"{spec.name}: there is nothing to install: {spec.unavailable}")
    if not spec.requirements:
        report(f"{spec.name}: nothing to install, it runs in the current interpreter")
        return Path(sys.prefix)
    home()
    environment = environment_of(spec)
    try:
        environment.parent.mkdir(exist_ok=True)
        with _locked(_beside(environment, ".lock"), spec, report) as lock_fd:
            damage = _damage(spec, environment)
            if damage is None:
                report(f"{spec.name}: installed in {environment}")
            else:
                if damage:
                    report(f"{spec.name}: {damage} is missing or changed; making the environment again")
                _make(_work(spec, environment, lock_fd, report))
    except OSError as error:
        raise NetdynoError(f"{spec.name}: cannot be installed in {environment}: {error}.") from error
    return environment


def remove(spec: Spec, *, report: Callable[[str], None]) -> int:
    """Delete the framework's environment, its log and its lock; returns the number of bytes freed."""
    environment = environment_of(spec)
    if not environment.parent.is_dir():
        return 0
    with _locked(_beside(environment, ".lock"), spec, report):
        freed_bytes = bytes_in(environment)
        _wipe(environment)
        for suffix in (".log", ".lock.txt"):
            _beside(environment, suffix).unlink(missing_ok=True)
    return freed_bytes


def _damage(spec: Spec, environment: Path) -> str | None:
    """None if the environment is intact; the first file that is not as installed; '' if it was never finished."""
    if not is_complete(spec, environment):
        return ""
    marker = read_marker(environment)
    misfits = marker.misfits if marker else ()
    return first_damaged(packages_in(environment), tuple(spec.shared_objects), misfits) or None


def _make(work: Work) -> None:
    _wipe(work.environment)
    try:
        work.log.write_bytes(b"")
        python = fitting_python(work.spec)
        work.report(f"{work.spec.name}: making an environment with {python}")
        pip = make_venv(work, python)
        renew_pip(work, pip)
        index = install_packages(work, pip)
        if work.spec.shared_objects:
            compile_shared_objects(
                work.spec, packages_in(work.environment), lambda command: run_logged(work, command)
            )
        answer = probe(python_in(work.environment), work.spec)
        if answer is None or not answer.has_module:
            missing = answer.missing if answer else work.spec.module
            raise failure(work, f"pip finished but there is no module '{missing}'")
        versions = installed_versions(pip)
        write_lock(work, versions)
        shutil.rmtree(work.temporary, ignore_errors=True)
        _write_marker(work, index, versions)
    except BaseException:
        # Also after Ctrl-C: an incomplete environment is of no use.
        with contextlib.suppress(OSError):
            _wipe(work.environment)
        raise


def _write_marker(work: Work, index: str, versions: dict[str, str]) -> None:
    seconds = time.monotonic() - work.started
    size_bytes = bytes_in(work.environment)
    marker = Marker(
        framework=work.spec.name,
        requirements=work.spec.pins(work.gpu),
        index=index,
        versions=versions,
        python=python_version(python_in(work.environment)),
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(seconds, 1),
        bytes=size_bytes,
        misfits=tuple(find_misfits(packages_in(work.environment))),
    )
    path = work.environment / MARKER
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(marker), indent=2))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    work.report(f"{work.spec.name}: installed in {work.environment} ({seconds:.0f} s, {size_bytes / 1e6:.0f} MB)")


def _wipe(environment: Path) -> None:
    if not environment.exists():
        return
    # The marker goes first, so that an interrupted wipe leaves nothing that looks complete.
    (environment / MARKER).unlink(missing_ok=True)
    shutil.rmtree(environment)


def _work(spec: Spec, environment: Path, lock_fd: int, report: Callable[[str], None]) -> Work:
    return Work(
        spec=spec,
        environment=environment,
        gpu=has_nvidia_gpu(),
        log=_beside(environment, ".log"),
        lock_fd=lock_fd,
        started=time.monotonic(),
        report=report,
    )


@contextlib.contextmanager
def _locked(path: Path, spec: Spec, report: Callable[[str], None]) -> Iterator[int]:
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"{spec.name}: another process is installing it; waiting for that one")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _beside(environment: Path, suffix: str) -> Path:
    # Not with_suffix: a name such as lib-1.9-<digest> contains a dot.
    return environment.parent / (environment.name + suffix)
