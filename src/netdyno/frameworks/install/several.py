"""Install several frameworks at once, so that one that fails does not stop the others."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Marker, environment_of, read_marker
from netdyno.frameworks.install.framework import install
from netdyno.frameworks.spec import Spec

GROUPS = ("all", "today", "last", "2018")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The outcome for one framework; `error` is empty if it was installed."""

    spec: Spec
    environment: Path | None
    seconds: float
    error: str = ""

    @property
    def marker(self) -> Marker | None:
        """The marker of its environment; None if it has none."""
        return read_marker(environment_of(self.spec)) if self.spec.requirements and not self.error else None


class Listener(Protocol):
    """Receives progress messages and outcomes; called from several threads."""

    def progressed(self, spec: Spec, message: str) -> None: ...

    def ended(self, installed: Installed) -> None: ...


def members(group: str, known: Sequence[Spec]) -> list[Spec]:
    """The installable frameworks of 'all' or of an era."""
    return [spec for spec in known if spec.requirements and group in ("all", spec.era)]


def install_several(wanted: Sequence[Spec], jobs: int, listener: Listener) -> list[Installed]:
    """Install all in the given order, `jobs` at a time; Ctrl-C stops those in progress and wipes what they left."""
    cancelled = threading.Event()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = [pool.submit(_install_one, spec, listener, cancelled) for spec in wanted]
        try:
            _wait_for(futures)
        except KeyboardInterrupt:
            cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _wait_for(futures: Sequence["Future[Installed]"]) -> None:
    """In short waits, because an endless wait does not react to Ctrl-C."""
    waiting = set(futures)
    while waiting:
        _, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)


def _install_one(spec: Spec, listener: Listener, cancelled: threading.Event) -> Installed:
    start = time.monotonic()
    try:
        environment = install(spec, report=_reporter(spec, listener, cancelled))
    except NetdynoError as error:
        result = Installed(spec=spec, environment=None, seconds=time.monotonic() - start, error=str(error))
    else:
        result = Installed(spec=spec, environment=environment, seconds=time.monotonic() - start)
    listener.ended(result)
    return result


def _reporter(spec: Spec, listener: Listener, cancelled: threading.Event) -> Callable[[str], None]:
    """Pass messages on; they come every second, and so a thread notices that it has to stop."""

    def report(message: str) -> None:
        if cancelled.is_set():
            raise KeyboardInterrupt
        listener.progressed(spec, message)

    return report
