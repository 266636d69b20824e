"""Where the command starts: it hears signals before anything slow is imported."""

import os
import signal
import sys
from types import FrameType

STOPPED = 130  # what a shell reports for Ctrl-C


def main() -> None:
    """Run the command; SIGTERM and SIGHUP end it as Ctrl-C does, unless whoever started it ignores them."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)
    try:
        from netdyno.cli.main import main as run

        run()
    except KeyboardInterrupt:  # before or after the command itself, which handles its own
        sys.stderr.write("netdyno: stopped.\n")
        os._exit(STOPPED)  # a second signal has nothing left to interrupt


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
