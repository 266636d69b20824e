"""How several environments are made at once: each on its own, so that one that fails holds up no other."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import environment_of, read_marker
from netdyno.frameworks.install import install
from netdyno.frameworks.spec import Spec

GROUPS = ("all", "today", "last", "2018")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """How it went with one framework; `error` is empty if well."""

    spec: Spec
    environment: Path | None
    seconds: float
    error: str = ""

    @property
    def marker(self) -> dict[str, Any]:
        """What was noted when the environment was finished: sizes and versions."""
        return read_marker(environment_of(self.spec)) or {} if self.spec.requirements and not self.error else {}


class Listener(Protocol):
    """Who hears how things go; called from several threads."""

    def told(self, spec: Spec, message: str) -> None: ...

    def ended(self, installed: Installed) -> None: ...


def members(group: str, known: Sequence[Spec]) -> list[Spec]:
    """The installable frameworks of 'all' or of an era."""
    return [spec for spec in known if spec.requirements and group in ("all", spec.era)]


def install_several(wanted: Sequence[Spec], jobs: int, listener: Listener) -> list[Installed]:
    """Install all, `jobs` at a time, in the order wanted; Ctrl-C ends those in flight and wipes what they left."""
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
    """In short waits, because a wait without end hears no Ctrl-C."""
    waiting = set(futures)
    while waiting:
        _, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)


def _install_one(spec: Spec, listener: Listener, cancelled: threading.Event) -> Installed:
    start = time.monotonic()
    try:
        environment = install(spec, talk=_talk(spec, listener, cancelled))
    except NetdynoError as error:
        result = Installed(spec=spec, environment=None, seconds=time.monotonic() - start, error=str(error))
    else:
        result = Installed(spec=spec, environment=environment, seconds=time.monotonic() - start)
    listener.ended(result)
    return result


def _talk(spec: Spec, listener: Listener, cancelled: threading.Event) -> Callable[[str], None]:
    """Passes messages on; they come every second, which is how a thread learns that it is to stop."""

    def talk(message: str) -> None:
        if cancelled.is_set():
            raise KeyboardInterrupt
        listener.told(spec, message)

    return talk
