"""What the host tells the monitor on its standard input: 'worker PID' lines; its end ends the monitor."""

import os
import select
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Orders:
    """The lines of a pipe, read without ever waiting longer than asked."""

    source: int  # a file descriptor
    ended: bool = False
    _rest: bytes = b""

    def end(self) -> None:
        """As if the host had closed the pipe."""
        self.ended = True

    def wait(self, seconds: float) -> list[int]:
        """The pids of the workers that were told meanwhile; comes back early when something is told."""
        ready, _, _ = select.select([self.source], [], [], max(seconds, 0.0))
        return self._take(os.read(self.source, 4096)) if ready else []

    def _take(self, chunk: bytes) -> list[int]:
        self.ended = self.ended or not chunk
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        words = [line.split() for line in lines]
        return [int(word[1]) for word in words if len(word) == 2 and word[0] == b"worker" and word[1].isdigit()]
