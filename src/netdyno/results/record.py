"""What is stored of a run, whatever its outcome."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from netdyno.errors import NetdynoError
from netdyno.results.cell import Cell
from netdyno.results.figure import Figure, FigureName
from netdyno.results.pictures import Pictures
from netdyno.results.values import (
    AnyNumber,
    Bytes,
    Count,
    Id,
    Moment,
    Name,
    Number,
    Seconds,
    Share,
    Whole,
    Words,
    one_of,
)

MEASURED, SHORT = "measured", "short of its goal"
OUTCOMES = (MEASURED, SHORT, "unsupported", "out of memory", "failed", "crashed", "timed out")

Named = Annotated[Mapping[Name, Name], Meta(max_length=1000)]
Point = Annotated[list[Number], Meta(min_length=2, max_length=2)]
# An adapter and a machine may say anything; netdyno itself reads these fields (checked in exchange/check.py).
_CORES = {"type": ["number", "null"], "minimum": 0}
_GPU = {"type": "object", "properties": {"name": {"type": "string"}}}
Settings = Annotated[
    Mapping[Name, Any],
    Meta(
        max_length=1000,
        extra_json_schema={
            "properties": {
                "execution": {"type": "string"},
                "looked_at": {"type": "object", "additionalProperties": {"type": "number"}},
            }
        },
    ),
]
Environment = Annotated[
    Mapping[Name, Any],
    Meta(
        max_length=1000,
        extra_json_schema={
            "properties": {
                "cpu": {"type": "string"},
                "gpus": {"type": "array", "items": _GPU},
                **dict.fromkeys(("usable_cores", "physical_cores"), _CORES),
            }
        },
    ),
]


class Sample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One timed block: `steps` steps took `seconds` in all."""

    steps: Count
    seconds: Seconds

    def __post_init__(self) -> None:
        if self.steps < 1 or not self.seconds > 0:
            raise NetdynoError(f"a sample: expected steps and seconds over 0, received {self.steps}, {self.seconds}.")

    @property
    def seconds_per_step(self) -> float:
        return self.seconds / self.steps


class Evaluation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Accuracy, where items are classified, loss and other scores after so many steps, on the test split. `train_s`
    does not include evaluating."""

    step: Whole
    train_s: AnyNumber
    wall_s: AnyNumber
    accuracy: Share | None = None
    loss: AnyNumber
    scores: Mapping[Name, AnyNumber] = {}


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of one cell. `id` is also the name of the run folder.

    A cell's runs come in series: `--again` starts a new one, and a result summarises the newest.
    """

    id: Id
    cell: Cell
    machine: Name
    series: Count
    number: Whole  # within its series; of `learn` the seed
    outcome: Annotated[str, one_of(*OUTCOMES)]
    started_at: Moment  # ISO 8601, UTC
    ended_at: Moment
    reason: Words = ""  # why there is no measurement; empty if there is one
    figures: Annotated[Mapping[FigureName, Figure], Meta(max_length=100)] = field(default_factory=dict)
    headline: Annotated[str, Meta(max_length=60, pattern="^([a-z][a-z0-9_]*)?$(?!\n)")] = ""  # the main figure
    samples: Annotated[tuple[Sample, ...], Meta(max_length=100_000)] = ()
    warmup: Annotated[tuple[Sample, ...], Meta(max_length=100_000)] = ()
    curve: Annotated[tuple[Evaluation, ...], Meta(max_length=100_000)] = ()
    pictures: Pictures | None = None  # that the network makes when it has learnt
    flags: Annotated[tuple[Words, ...], Meta(max_length=100)] = ()  # what is weak about a measured run
    build_s: AnyNumber | None = None
    first_step_s: AnyNumber | None = None
    loss_first: AnyNumber | None = None
    loss_last: AnyNumber | None = None
    host_peak_bytes: Bytes | None = None
    device_peak_bytes: Bytes | None = None  # in use for tensors, as the framework counts
    readings: Annotated[Mapping[Name, Number], Meta(max_length=1000)] = field(default_factory=dict)
    absent: Annotated[Mapping[Name, Words], Meta(max_length=1000)] = field(default_factory=dict)  # and why
    # Readings along the timed window, thinned: [seconds from its start, value].
    trace: Annotated[
        Mapping[Name, Annotated[list[Point], Meta(max_length=1000)]],
        Meta(max_length=100),
    ] = field(default_factory=dict)
    graph_digest: Name = ""
    graph_identity: Name = ""  # of the network, whatever the batch; empty where it is not known
    weights_digest: Name = ""
    worker_hash: Name = ""
    netdyno_version: Name = ""
    versions: Named = field(default_factory=dict)
    settings: Settings = field(default_factory=dict)  # what the adapter chose: layout and such
    environment: Environment = field(default_factory=dict)
    cost: Annotated[Mapping[Name, Number], Meta(max_length=1000)] = field(default_factory=dict)  # the graph's totals
    # What all runs of a series share beside graph and worker: the framework's version, how it was measured.
    basis: Annotated[Mapping[Name, Name | Number], Meta(max_length=100)] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise NetdynoError(f"a record: expected an outcome among {OUTCOMES}, received '{self.outcome}'.")
        if self.figures and self.headline not in self.figures:
            raise NetdynoError(f"a record: expected a headline among its figures, received '{self.headline}'.")
        for name, figure in self.figures.items():
            if figure.name != name:
                raise NetdynoError(
                    f"a record: expected its figure '{name}' to have that name, received '{figure.name}'."
                )
            if figure.per_step is not None and not self.samples:
                raise NetdynoError(f"a record: expected samples for its rate '{name}', received none.")

    @property
    def is_measured(self) -> bool:
        """Whether the run ended as it should, so that its figures count; a training may miss its goal."""
        return self.outcome in (MEASURED, SHORT) and bool(self.figures)

    @property
    def main(self) -> Figure | None:
        """The headline figure of a measured run."""
        return self.figures[self.headline] if self.is_measured else None
