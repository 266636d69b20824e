"""The host's side of the monitor: start its process, name the ranks to it, end it."""

import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.monitor.trace import append_problem

READY_S = 5.0
END_S = 2.0


@dataclass(slots=True, kw_only=True)
class Monitor:
    """A monitor that was started. Nothing here raises: a run continues without its monitor, and `problem` says why;
    once stopped, the trace says so too."""

    trace: Path
    process: subprocess.Popen[bytes] | None = None
    problem: str = ""

    @classmethod
    def start(cls, trace: Path, gpus: Sequence[int]) -> "Monitor":
        """Start it and wait until its baseline is in the file: then the ranks may start. `gpus`: the NVML indices of
        the run's GPUs; their place in the sequence is their number in the trace."""
        indices = ["--gpu", *map(str, gpus)] if gpus else []
        command = [sys.executable, "-P", "-m", "netdyno.devices.monitor", str(trace), *indices]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            return cls(trace=trace, problem=f"the monitor does not start: {error.strerror}")
        return cls(trace=trace, process=process, problem=_wait_for_ready(process))

    def watch(self, pids: Sequence[int]) -> None:
        """Name the processes of the run's ranks; each leads a process session."""
        if self.process is None or self.process.stdin is None:
            return
        try:
            self.process.stdin.write(f"watch {' '.join(map(str, pids))}\n".encode())
        except OSError:
            self._notice_end()

    def stop(self) -> None:
        """End it; what it has written until then is complete."""
        if self.process is not None:
            self._notice_end()
            self._end(self.process)
            self.process = None
        if self.problem:
            append_problem(self.trace, self.problem)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        _close(process)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.problem = self.problem or f"the monitor did not end within {END_S:.0f} s and was killed"
            _kill(process)

    def _notice_end(self) -> None:
        """Note a problem if it has ended by itself."""
        code = self.process.poll() if self.process else None
        if code is not None and not self.problem:
            how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
            self.problem = f"the monitor ended before the run did ({how})"


@contextmanager
def monitoring(trace: Path, gpus: Sequence[int]) -> Iterator[Monitor]:
    """A monitor for the duration of a block."""
    monitor = Monitor.start(trace, gpus)
    try:
        yield monitor
    finally:
        monitor.stop()


def _wait_for_ready(process: subprocess.Popen[bytes]) -> str:
    """Empty once it is ready; otherwise the problem."""
    printed, end = b"", time.monotonic() + READY_S
    while b"\n" not in printed and process.stdout is not None:
        ready, _, _ = select.select([process.stdout], [], [], max(end - time.monotonic(), 0.0))
        if not ready:
            return f"the monitor was not ready within {READY_S:.0f} s"
        chunk = process.stdout.read(4096)
        if not chunk:
            return "the monitor ended before it was ready"
        printed += chunk
    line = printed.decode(errors="replace").strip()
    return "" if line == "ready" else line.removeprefix("problem: ")


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """A process that is blocked in a driver may outlive SIGKILL; it is not waited for twice."""
    process.kill()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        return
