"""What the host sends to the monitor's standard input: lines `watch PID…`; the end of the input ends the monitor."""

import os
import select
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Commands:
    """The lines of a pipe, read without blocking longer than requested."""

    source: int  # a file descriptor
    ended: bool = False
    _rest: bytes = b""

    def end(self) -> None:
        """Behave as if the host had closed the pipe."""
        self.ended = True

    def wait(self, seconds: float) -> list[int]:
        """Wait for commands and return the pids to watch; returns early when something arrives."""
        ready, _, _ = select.select([self.source], [], [], max(seconds, 0.0))
        return self._parse(os.read(self.source, 4096)) if ready else []

    def _parse(self, chunk: bytes) -> list[int]:
        self.ended = self.ended or not chunk
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        commands = [line.split() for line in lines]
        return [
            int(pid) for word, *pids in filter(None, commands) if word == b"watch" for pid in pids if pid.isdigit()
        ]
