"""How a framework's environment is made: once, whoever asks, and never half.

An environment counts only with its marker file, which is written last and by renaming. Whoever makes one
holds a lock; a second process that asks waits for the first and uses its environment.
"""

import contextlib
import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import MARKER, environment_of, has_nvidia_gpu, is_complete, python_in
from netdyno.frameworks.home import home
from netdyno.frameworks.interpreters import fitting_python, probe, python_version
from netdyno.frameworks.packages import (
    Work,
    bytes_in,
    failure,
    install_packages,
    installed_versions,
    make_venv,
)
from netdyno.frameworks.spec import Spec


def install(spec: Spec, *, talk: Callable[[str], None]) -> Path:
    """The framework's environment, made if it is not there or damaged. `talk` hears what is going on."""
    if not spec.requirements:
        talk(f"{spec.name}: nothing to install, it runs in the current interpreter")
        return Path(sys.prefix)
    home()
    environment = environment_of(spec)
    try:
        environment.parent.mkdir(exist_ok=True)
        with _locked(_beside(environment, ".lock"), spec, talk) as lock_fd:
            if is_complete(spec, environment):
                talk(f"{spec.name}: installed in {environment}")
            else:
                _make(_work(spec, environment, lock_fd, talk))
    except OSError as error:
        raise NetdynoError(f"{spec.name}: cannot be installed in {environment}: {error}.") from error
    return environment


def _make(work: Work) -> None:
    _wipe(work.environment)
    try:
        work.log.write_bytes(b"")
        python = fitting_python(work.spec)
        work.talk(f"{work.spec.name}: making an environment with {python}")
        pip = make_venv(work, python)
        index = install_packages(work, pip)
        answer = probe(python_in(work.environment), work.spec)
        if answer is None or not answer.has_module:
            raise failure(work, f"pip finished but there is no module '{work.spec.module}'")
        versions = installed_versions(pip)
        shutil.rmtree(work.temporary, ignore_errors=True)
        _write_marker(work, index, versions)
    except BaseException:
        # Also after Ctrl-C: what is half made is of no use to anyone.
        with contextlib.suppress(OSError):
            _wipe(work.environment)
        raise


def _write_marker(work: Work, index: str, versions: dict[str, str]) -> None:
    seconds = time.monotonic() - work.started
    size_bytes = bytes_in(work.environment)
    marker = {
        "framework": work.spec.name,
        "requirements": list(work.spec.pins(work.gpu)),
        "index": index,
        "versions": versions,
        "python": python_version(python_in(work.environment)),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "bytes": size_bytes,
    }
    path = work.environment / MARKER
    draft = path.with_suffix(".draft")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(marker, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    work.talk(f"{work.spec.name}: installed in {work.environment} ({seconds:.0f} s, {size_bytes / 1e6:.0f} MB)")


def _wipe(environment: Path) -> None:
    if not environment.exists():
        return
    # The marker goes first, so that a wipe cut short does not leave what looks complete.
    (environment / MARKER).unlink(missing_ok=True)
    shutil.rmtree(environment)


def _work(spec: Spec, environment: Path, lock_fd: int, talk: Callable[[str], None]) -> Work:
    return Work(
        spec=spec,
        environment=environment,
        gpu=has_nvidia_gpu(),
        log=_beside(environment, ".log"),
        lock_fd=lock_fd,
        started=time.monotonic(),
        talk=talk,
    )


@contextlib.contextmanager
def _locked(path: Path, spec: Spec, talk: Callable[[str], None]) -> Iterator[int]:
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            talk(f"{spec.name}: another process is installing it; waiting for that one")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _beside(environment: Path, suffix: str) -> Path:
    # Not with_suffix: a name such as lib-1.9-<digest> has a dot of its own.
    return environment.parent / (environment.name + suffix)
