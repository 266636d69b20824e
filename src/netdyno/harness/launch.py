"""How a worker is started: its own process group, no input but a word to go on, output drained, threads set."""

import os
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from netdyno.devices.instructions import maker_variables
from netdyno.devices.variables import computing_variables
from netdyno.errors import NetdynoError
from netdyno.frameworks.spec import Spec

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
KEPT_BYTES = 512 * 1024  # of each stream, at its start and at its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to start: `python` runs the packed `worker`, or another language's `program`, on `folder/request.json`."""

    python: Path
    worker: Path
    folder: Path
    threads: int
    variables: Mapping[str, str] = field(default_factory=dict)  # what the framework needs to be told
    program: Path | None = None
    holds: bool = False  # once it has imported its framework, until it is told to go on


@dataclass(frozen=True, slots=True)
class Running:
    """A started worker and the threads that drain its output."""

    process: subprocess.Popen[bytes]
    drains: tuple[threading.Thread, ...]

    def go_on(self) -> None:
        """Tell a worker that holds; one that has ended meanwhile does not listen."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b"\n")
            self.process.stdin.close()
        except BrokenPipeError:
            return

    def finish_output(self) -> None:
        """Wait until both streams are closed and written down; a stray grandchild may hold one open."""
        for drain in self.drains:
            drain.join(timeout=5)


def launch(command: Command) -> Running:
    """Start the worker; its process group has the worker's process id.

    Its working folder is the same in every run: CUDA's compilers take it into the key of what they keep, and would
    compile everything anew in another one.
    """
    worker = [str(command.program)] if command.program else ["-I", str(command.worker)]
    files = [str(command.folder.resolve() / name) for name in ("request.json", "events.jsonl")]
    arguments = [str(command.python), *worker, *files, *(["hold"] if command.holds else [])]
    try:
        process = subprocess.Popen(
            arguments,
            cwd=command.worker.parent,
            env={**os.environ, **worker_variables(command.threads), **command.variables},
            stdin=subprocess.PIPE if command.holds else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise NetdynoError(
            f"expected a Python interpreter that starts, received '{command.python}': {error.strerror}."
        ) from None
    assert process.stdout is not None
    assert process.stderr is not None
    streams = ((process.stdout, "stdout.log"), (process.stderr, "stderr.log"))
    drains = tuple(_drain(stream, command.folder / name) for stream, name in streams)
    return Running(process, drains)


def worker_variables(threads: int) -> Mapping[str, str]:
    """What numerical libraries are told, in every framework alike: how many threads to use, which CPU this is."""
    order = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}  # as the monitor counts
    return {**dict.fromkeys(THREAD_VARIABLES, str(threads)), **maker_variables(), **order}


def inherited_variables(spec: Spec) -> dict[str, str]:
    """What a worker of the framework is told by the user's environment, and heeds: not what every worker is told."""
    told = {**worker_variables(threads=1), **spec.variables}
    return {name: value for name, value in computing_variables(spec.heeds).items() if name not in told}


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
