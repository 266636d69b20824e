"""How Ctrl-C, SIGTERM and SIGHUP end a command: at once while it starts, as KeyboardInterrupt once it works."""

import os
import signal
from types import FrameType

STOPPED = 130  # what a shell reports for Ctrl-C
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def leave_when_signalled() -> None:
    """Nothing is begun, so nothing needs ending. Python may drop an exception that is raised while it imports.

    A signal that whoever started us ignores stays ignored.
    """
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _leave)


def interrupt_when_signalled() -> None:
    """From here on the command ends what it has begun."""
    for number in SIGNALS:
        if signal.getsignal(number) is _leave:
            signal.signal(number, signal.default_int_handler)


def stop() -> None:
    """A second signal has nothing left to interrupt."""
    os.write(2, b"netdyno: stopped.\n")
    os._exit(STOPPED)


def _leave(number: int, frame: FrameType | None) -> None:
    stop()
