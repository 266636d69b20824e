"""The host's side of the monitor: which GPUs it reads, how its process is started, told and ended."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.nvml import NoAnswer, NoLibrary, Nvml, find_answer, opened
from netdyno.devices.trace import leave_problem

READY_S = 5.0
END_S = 2.0


@dataclass(slots=True, kw_only=True)
class Monitor:
    """A monitor that was started. Nothing here raises: a run goes on without its monitor, and `problem` says why;
    once stopped, the trace says it too."""

    trace: Path
    process: subprocess.Popen[bytes] | None = None
    problem: str = ""

    @classmethod
    def start(cls, trace: Path, gpus: Sequence[int]) -> "Monitor":
        """Start it and wait until its baseline is in the file: then the worker may start. `gpus`: NVML indices."""
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

    def watch(self, pid: int) -> None:
        """Tell it which process is the worker; it leads a session of its own."""
        if self.process is None or self.process.stdin is None:
            return
        try:
            self.process.stdin.write(b"worker %d\n" % pid)
        except OSError:
            self._notice_end()

    def stop(self) -> None:
        """End it; what it has written by then is complete."""
        if self.process is not None:
            self._notice_end()
            self._end(self.process)
            self.process = None
        if self.problem:
            leave_problem(self.trace, self.problem)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        _close(process)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.problem = self.problem or f"the monitor did not end within {END_S:.0f} s and was killed"
            _kill(process)

    def _notice_end(self) -> None:
        """Whether it has ended before it was told to."""
        code = self.process.poll() if self.process else None
        if code is not None and not self.problem:
            how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
            self.problem = f"the monitor ended before the run did ({how})"


@contextmanager
def monitoring(trace: Path, gpus: Sequence[int]) -> Iterator[Monitor]:
    """A monitor for the time of a block."""
    monitor = Monitor.start(trace, gpus)
    try:
        yield monitor
    finally:
        monitor.stop()


def visible_gpus(environment: Mapping[str, str] = os.environ, nvml: Nvml | None = None) -> tuple[int, ...]:
    """The NVML indices in the order in which a framework counts its devices, by CUDA_VISIBLE_DEVICES. Both count by
    PCI bus where CUDA_DEVICE_ORDER says so, or where all cards are alike."""
    wanted = environment.get("CUDA_VISIBLE_DEVICES")
    try:
        with opened(nvml) as nvml:
            count = nvml.nvmlDeviceGetCount()
            return tuple(range(count)) if wanted is None else _chosen(nvml, wanted.split(","), count)
    except (NoLibrary, NoAnswer):
        return ()


def _chosen(nvml: Nvml, words: Sequence[str], count: int) -> tuple[int, ...]:
    """As CUDA reads the variable: the first word that names no device ends the list."""
    chosen: list[int] = []
    for word in map(str.strip, words):
        index = int(word) if word.isdigit() else _find_index(nvml, word, count)
        if index is None or index >= count or index in chosen:
            break
        chosen.append(index)
    return tuple(chosen)


def _find_index(nvml: Nvml, word: str, count: int) -> int | None:
    """The card with this UUID, or with the only one that begins so; of a slice, the card that it is cut from."""
    if word.startswith("MIG-"):
        mig = find_answer(nvml, nvml.nvmlDeviceGetHandleByUUID, word)
        card = find_answer(nvml, nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, mig) if mig is not None else None
        return find_answer(nvml, nvml.nvmlDeviceGetIndex, card) if card is not None else None
    found = [index for index in range(count) if word and _uuid(nvml, index).startswith(word)]
    return found[0] if len(found) == 1 else None


def _uuid(nvml: Nvml, index: int) -> str:
    handle = find_answer(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
    return str(find_answer(nvml, nvml.nvmlDeviceGetUUID, handle) or "") if handle is not None else ""


def _wait_for_ready(process: subprocess.Popen[bytes]) -> str:
    """Nothing once it is ready; else the problem."""
    said, end = b"", time.monotonic() + READY_S
    while b"\n" not in said and process.stdout is not None:
        ready, _, _ = select.select([process.stdout], [], [], max(end - time.monotonic(), 0.0))
        if not ready:
            return f"the monitor was not ready within {READY_S:.0f} s"
        chunk = process.stdout.read(4096)
        if not chunk:
            return "the monitor ended before it was ready"
        said += chunk
    line = said.decode(errors="replace").strip()
    return "" if line == "ready" else line.removeprefix("problem: ")


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """A process that waits for a driver may outlive its killing; it is not waited for twice."""
    process.kill()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        return
