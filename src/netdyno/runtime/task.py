"""One task: a request that a group of ranks carries out. Launch, watch, read events, judge: nobody else does that."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from netdyno.protocol.event_log import EVENTS, EventLog, read_events
from netdyno.protocol.request import Request
from netdyno.runtime.group import Group, places, rank_folder
from netdyno.runtime.judge import Verdict, judge
from netdyno.runtime.launchers.local import REQUEST, start_rank
from netdyno.runtime.watch import Ending, watch
from netdyno.runtime.worker import Worker, worker_variables
from netdyno.runtime.worker_file import check_worker


def nothing() -> None:
    """What is done at each look at a task that nobody follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a task left: its ranks' events, how its group ended, and the verdict on both."""

    folder: Path
    logs: tuple[EventLog, ...]
    ending: Ending
    verdict: Verdict

    @property
    def log(self) -> EventLog:
        """Of the first rank."""
        return self.logs[0]

    @property
    def reason(self) -> str:
        """The verdict's reason, with the log that has the rest of it, below netdyno's home."""
        if not self.verdict.has_more:
            return self.verdict.reason
        log = rank_folder(self.folder, self.verdict.rank) / "stderr.log"
        return f"{self.verdict.reason} (more in {log.relative_to(self.folder.parents[1])})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A request in a folder, with a folder below it for each rank. `gpus` are shared out among the ranks."""

    worker: Worker
    request: Request
    folder: Path
    deadline_s: float
    gpus: tuple[int, ...] = ()

    def prepare(self) -> None:
        """Write each rank's request: they differ in rank, CPUs and devices."""
        for rank, place in enumerate(places(self.request.ranks, self.request.threads, self.gpus)):
            folder = rank_folder(self.folder, rank)
            folder.mkdir(parents=True, exist_ok=True)
            own = msgspec.structs.replace(self.request, rank=rank, cpus=place.cpus, devices=place.gpus)
            (folder / REQUEST).write_bytes(msgspec.json.format(msgspec.json.encode(own), indent=1))

    def start(self, *, hold: bool = False) -> Group:
        """Start every rank; if one does not start, those before it are ended."""
        if self.worker.program is None:
            check_worker(self.worker.archive)
        ranks = []
        try:
            for rank in range(self.request.ranks):
                folder = rank_folder(self.folder, rank)
                ranks.append(start_rank(self.worker, folder, self._variables(rank), hold=hold))
        except BaseException:
            Group(ranks=tuple(ranks)).end()
            raise
        return Group(ranks=tuple(ranks))

    def watch(self, group: Group, on_poll: Callable[[], None] = nothing) -> Finished:
        """Wait for a group that was started, and judge it."""
        return finished(self.folder, watch(group, self.deadline_s, on_poll))

    def run(self, on_poll: Callable[[], None] = nothing) -> Finished:
        """All of it."""
        self.prepare()
        return self.watch(self.start(), on_poll)

    def _variables(self, rank: int) -> dict[str, str]:
        own = self.gpus[rank :: self.request.ranks] if self.request.ranks > 1 else ()
        visible = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, own))} if own else {}
        return {**worker_variables(self.request.threads), **visible, **self.worker.variables}


def finished(folder: Path, ending: Ending) -> Finished:
    """Read and judge what a group left in its folder."""
    logs = tuple(read_events(rank_folder(folder, rank) / EVENTS) for rank in range(len(ending.exit_codes)))
    return Finished(folder=folder, logs=logs, ending=ending, verdict=judge(logs, ending, folder))


@contextmanager
def scratch_folder(scratch: Path, purpose: str) -> Iterator[Path]:
    """A folder for a task of which nothing is kept."""
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, prefix=f"{purpose}-") as name:
        yield Path(name)
