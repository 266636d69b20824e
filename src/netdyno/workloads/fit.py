"""Does a batch fit? One fresh process builds the network, trains a few steps and reports its memory, or runs out."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from netdyno.graph.model import Programme
from netdyno.protocol.event_log import EventLog
from netdyno.protocol.events import Memory
from netdyno.protocol.request import FitRequest
from netdyno.results.cell import Cell
from netdyno.results.limit import asked_bytes, speaks_of_memory
from netdyno.runtime.group import rank_folder
from netdyno.runtime.judge import DONE, FAILED, OUT_OF_MEMORY, broken
from netdyno.runtime.task import Finished, Task, nothing
from netdyno.runtime.worker import Setup, Worker, request_fields
from netdyno.workloads.train import versions_of

FITS = "fits"
NO_GRAPH = "no graph"  # the network cannot even be written down for so many items
STEPS = 3  # the second has the optimizer's moments beside the gradients, the third has found its workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The result of one try. `outcome` is 'fits', 'no graph' or an outcome of a record; near the limit memory is
    noisy (fragments, workspaces that are chosen by timing), so another try may give another result."""

    batch: int
    outcome: str
    reason: str = ""
    starved: bool = False  # somewhere it says that memory ran out, whatever the outcome
    asked_bytes: int | None = None  # the allocation that failed
    peak_bytes: int | None = None  # of the device; of the host where the device is the CPU
    versions: str = ""  # of the framework's libraries, in one line
    took_s: float = 0.0

    @property
    def fits(self) -> bool:
        return self.outcome == FITS


def fit_request(cell: Cell, programme: Programme, worker: Worker) -> FitRequest:
    """Train a few steps of the cell at its batch and report the memory."""
    return FitRequest(
        **request_fields(worker, Setup.of(cell)), cell=cell.as_dict(), programme=worker.wire(programme), steps=STEPS
    )


def try_fit(cell: Cell, task: Task, on_poll: Callable[[], None] = nothing) -> Fit:
    """Try the cell at its batch; whatever happens to the process is an answer, not an error."""
    start = time.monotonic()
    finished = task.run(on_poll)
    outcome, reason = _outcome(finished)
    said = _words_of_memory(outcome, finished.verdict.said or reason, rank_folder(task.folder, 0) / "stderr.log")
    return Fit(
        batch=cell.batch,
        outcome=outcome,
        reason=reason if outcome != "crashed" or said in reason else f"{said} ({reason})",
        starved=outcome == OUT_OF_MEMORY or bool(said),
        asked_bytes=asked_bytes(said),
        peak_bytes=_peak_bytes(finished.log, cell.device),
        versions=", ".join(f"{name} {version}" for name, version in _ordered(versions_of(finished.log))),
        took_s=time.monotonic() - start,
    )


def _outcome(finished: Finished) -> tuple[str, str]:
    """A try is judged as a run is, but all that it must have measured is the memory."""
    if finished.verdict.outcome != DONE:
        return finished.verdict.outcome, finished.verdict.reason
    return (FITS, "") if finished.log.first(Memory) else (FAILED, broken("done without reporting its memory").reason)


def _words_of_memory(outcome: str, said: str, log: Path) -> str:
    """What it said of memory. A library that gave up by itself said so in the log, perhaps above a stack trace; where
    there was a last word, only that counts, because logs also report shortages that were overcome."""
    if outcome == "crashed" and log.exists():
        lines = reversed(log.read_text(errors="replace").splitlines())
        return next((line.strip()[:500] for line in lines if speaks_of_memory(line)), "")
    return said if outcome in (OUT_OF_MEMORY, FAILED) and speaks_of_memory(said) else ""


def _peak_bytes(log: EventLog, device: str) -> int | None:
    memory = log.first(Memory)
    if memory is None:
        return None
    return memory.host_peak_bytes if device == "cpu" else memory.device_peak_bytes


def _ordered(versions: dict[str, str]) -> list[tuple[str, str]]:
    """Libraries by name, then Python."""
    return sorted(versions.items(), key=lambda item: (item[0] == "python", item))
