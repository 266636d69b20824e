"""netdyno called in this process, as its command line is, and what came of it."""

import contextlib
import io
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

from netdyno.cli.main import main

LIMIT_S = 20.0
LONGEST = 1_300  # characters of an error


class TooLongError(BaseException):
    """Not an Exception, so that nothing takes it for one of its own."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`fault` is empty where the command ended as it should."""

    arguments: Sequence[str]
    code: int
    out: str
    errors: str
    seconds: float
    fault: str = ""


@dataclass(kw_only=True)
class Tally:
    """What many calls came to."""

    codes: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest_s: float = 0.0

    def add(self, name: str, answer: Answer) -> None:
        self.codes[answer.code] += 1
        self.slowest_s = max(self.slowest_s, answer.seconds)
        if answer.fault:
            self.faults.append(f"{name}: netdyno {' '.join(answer.arguments)[:300]!r}\n{answer.fault}")

    def __str__(self) -> str:
        ended = ", ".join(f"{count} with {code}" for code, count in sorted(self.codes.items()))
        return f"{self.codes.total()} cases: {ended}; {len(self.faults)} faults; slowest {self.slowest_s:.1f} s"


def call(arguments: Sequence[str], limit_s: float = LIMIT_S) -> Answer:
    """Run a command of netdyno; a traceback, an error of several lines or a long wait is a fault."""
    out, errors, start = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO(), time.monotonic()
    code, fault = 0, ""
    with _limited(limit_s), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), _argv(arguments):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except TooLongError:
            code, fault = -1, f"no answer in {limit_s:.0f} s"
        except BaseException:
            code, fault = -2, traceback.format_exc()
    out.flush()
    said = errors.getvalue()
    fault = fault or _fault_in(code, said)
    seconds = time.monotonic() - start
    shown = out.buffer.getvalue().decode("utf-8", "replace")
    return Answer(arguments=arguments, code=code, out=shown, errors=said, seconds=seconds, fault=fault)


@contextlib.contextmanager
def scratch(folder: Path, **variables: str) -> Iterator[None]:
    """A home and a store of its own, and the folder as the current one."""
    own = {"NETDYNO_HOME": str(folder / "home"), "NETDYNO_STORE": str(folder / "store.sqlite"), **variables}
    kept = {name: os.environ.get(name) for name in own}
    with contextlib.chdir(folder):
        os.environ.update(own)
        try:
            yield
        finally:
            for name, value in kept.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def told(tally: Tally, most: int = 20) -> Iterable[str]:
    """The faults, those of the same last line once, and the sum."""
    kinds: dict[str, str] = {}
    for fault in tally.faults:
        kinds.setdefault(fault.strip().splitlines()[-1], fault)
    return [*list(kinds.values())[:most], str(tally)]


def _fault_in(code: int, said: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith("error:")]
    if "Traceback" in said:
        return said
    if code == 2 and not lines:
        return f"expected a line that begins with 'error:', received {said[:300]!r}"
    if any(len(line) > LONGEST or not line.isprintable() for line in lines):
        return f"an error of {len(said)} characters, or not printable: {said[:300]!r}"
    return ""


@contextlib.contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    def stop(signal_number: int, frame: FrameType | None) -> NoReturn:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _argv(arguments: Sequence[str]) -> Iterator[None]:
    before = sys.argv
    sys.argv = ["netdyno", *arguments]
    try:
        yield
    finally:
        sys.argv = before
