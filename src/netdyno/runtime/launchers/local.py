"""How a rank is started on this machine: its own process group, drained output, no input but a word to go on."""

import os
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from netdyno.errors import NetdynoError
from netdyno.protocol.event_log import EVENTS
from netdyno.runtime.worker import Worker

KEPT_BYTES = 512 * 1024  # of each stream, at its start and at its end
REQUEST = "request.json"
HOST = "NETDYNO_HOST_PID"  # by which a worker notices that its host died before it could ask to die with it
DRAIN_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRank:
    """A started process and the threads that drain its output. Its process group has its process id."""

    folder: Path
    process: subprocess.Popen[bytes]
    drains: tuple[threading.Thread, ...]

    def go_on(self) -> None:
        """Release a worker that holds; one that has ended meanwhile does not listen."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b"\n")
            self.process.stdin.close()
        except BrokenPipeError:
            return

    def signal(self, number: int) -> None:
        """Send a signal to the process and everything that it started."""
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # nobody is left in the group

    def finish_output(self) -> None:
        """Wait until both logs are written; a stray grandchild may hold a stream open."""
        for drain in self.drains:
            drain.join(timeout=DRAIN_S)


def start_rank(worker: Worker, folder: Path, variables: Mapping[str, str], *, hold: bool) -> RunningRank:
    """Start a worker on the request in a folder; one that holds imports its framework and waits to be released.

    Its working folder is the same in every run: CUDA's compilers take it into the key of what they keep, and would
    compile everything again in another one.
    """
    program = [str(worker.program)] if worker.program else ["-I", str(worker.archive)]
    files = [str(folder.resolve() / name) for name in (REQUEST, EVENTS)]
    try:
        process = subprocess.Popen(
            [str(worker.python), *program, *files, *(["hold"] if hold else [])],
            cwd=worker.archive.parent,
            env={**os.environ, **variables, HOST: str(os.getpid())},
            stdin=subprocess.PIPE if hold else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise NetdynoError(
            f"expected a Python interpreter that starts, received '{worker.python}': {error.strerror}."
        ) from None
    assert process.stdout is not None
    assert process.stderr is not None
    streams = ((process.stdout, "stdout.log"), (process.stderr, "stderr.log"))
    return RunningRank(
        folder=folder, process=process, drains=tuple(_drain(stream, folder / name) for stream, name in streams)
    )


def _drain(stream: IO[bytes], path: Path) -> threading.Thread:
    thread = threading.Thread(target=_keep_ends, args=(stream, path), daemon=True)
    thread.start()
    return thread


def _keep_ends(stream: IO[bytes], path: Path) -> None:
    """Write the start and the end of a stream; a framework that prints gigabytes fills no disk."""
    head, tail, dropped = b"", b"", 0
    while chunk := stream.read1(65536) if hasattr(stream, "read1") else stream.read(65536):
        room = KEPT_BYTES - len(head)
        head += chunk[:room]
        tail += chunk[room:] if room > 0 else chunk
        if len(tail) > 2 * KEPT_BYTES:
            dropped += len(tail) - KEPT_BYTES
            tail = tail[-KEPT_BYTES:]
    note = f"\n… {dropped} bytes left out …\n".encode() if dropped else b""
    stream.close()
    path.write_bytes(head + note + tail)
