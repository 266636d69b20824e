"""What is stored of a run, whatever its outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.results.cell import Cell

OUTCOMES = ("measured", "unsupported", "out of memory", "failed", "crashed", "timed out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One timed block: `steps` training steps took `seconds` in all."""

    steps: int
    seconds: float

    def __post_init__(self) -> None:
        if self.steps < 1 or not self.seconds > 0:
            raise NetdynoError(f"a sample: expected steps and seconds over 0, received {self.steps}, {self.seconds}.")

    @property
    def seconds_per_step(self) -> float:
        return self.seconds / self.steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One run of one cell. `id` is also the name of the run folder.

    A cell's runs come in series: `--again` starts a new one, and a result summarises the newest.
    """

    id: str
    cell: Cell
    machine: str
    series: int
    number: int
    outcome: str
    started_at: str  # ISO 8601, UTC
    ended_at: str
    reason: str = ""  # why there is no measurement; empty if there is one
    samples: tuple[Sample, ...] = ()
    warmup: tuple[Sample, ...] = ()
    flags: tuple[str, ...] = ()  # what is weak about a measured run
    build_s: float | None = None
    first_step_s: float | None = None
    loss_first: float | None = None
    loss_last: float | None = None
    host_peak_bytes: int | None = None
    device_peak_bytes: int | None = None  # in use for tensors, as the framework counts
    readings: Mapping[str, float] = field(default_factory=dict)  # of the timed window: see runtime/readings/
    absent: Mapping[str, str] = field(default_factory=dict)  # readings that could not be made, and why
    # Readings in the timed window, thinned: [seconds from its start, value]; see runtime/readings/kept_trace.py.
    trace: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    graph_digest: str = ""
    weights_digest: str = ""
    worker_hash: str = ""
    netdyno_version: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)  # what the adapter chose: layout and such
    environment: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, int] = field(default_factory=dict)  # the graph's totals

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise NetdynoError(f"a record: expected an outcome among {OUTCOMES}, received '{self.outcome}'.")
