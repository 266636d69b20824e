"""What a workload is: the request that it makes for a cell, and the record that comes out of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from netdyno.graph.model import Programme
from netdyno.protocol.request import Request, Timing
from netdyno.results.cell import Cell
from netdyno.results.record import Record
from netdyno.runtime.task import Finished
from netdyno.runtime.worker import Worker
from netdyno.workloads.inputs import InputFiles

SYNTHETIC = "synthetic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run that a workload describes to a worker."""

    cell: Cell
    number: int  # of the run in its series
    programme: Programme
    worker: Worker
    timing: Timing
    inputs: InputFiles | None = None  # what a cell with real data is fed
    evaluate_every: int | None = None  # steps
    before: tuple[tuple[Programme, float], ...] = ()  # stages that are learnt first, and for how many epochs
    labelled: int | None = None  # items that have labels, if not all have


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What the host knows of a run before it starts, and a record needs: `run.json` in the run's folder."""

    cell: Cell
    series: int
    number: int
    machine: str
    target: float
    graph_digest: str
    worker_hash: str
    graph_identity: str = ""
    started_at: str = ""
    launched: float = 0.0  # on the monotonic clock
    idle_w: float | None = None  # the lowest power that runs just before this one have seen
    item: str = "image"
    units: int = 1  # items in one row of a batch
    ranks: int = 1
    environment: Mapping[str, object] = field(default_factory=dict)
    cost: Mapping[str, int] = field(default_factory=dict)
    basis: Mapping[str, str | int | float] = field(default_factory=dict)  # what all runs of the series share
    composites: Mapping[str, str] = field(default_factory=dict)  # which ops kernels compute, and which are lowered
    choice: Mapping[str, object] = field(default_factory=dict)  # of an execution, where the fastest was wanted

    def settings(self, chosen: Mapping[str, object]) -> dict[str, object]:
        """For the record: what the adapter has chosen, and what the host knows beside it."""
        return {**chosen, **self.composites, **self.choice}

    def items_per_step(self) -> int:
        """Of all ranks together."""
        return self.cell.batch * self.units * self.ranks


class Workload(Protocol):
    """A kind of measurement of a cell."""

    name: str
    has_goal: bool  # whether its cells learn real data until a goal is reached

    def request(self, job: Job) -> Request:
        """What the first rank is asked; the others are asked the same."""

    def record(self, facts: RunFacts, finished: Finished, ended_at: str) -> Record:
        """What is stored of a run, whatever became of it."""
