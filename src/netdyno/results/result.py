"""What a cell's runs come to: one speed with its interval, and a verdict on how far to trust it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from netdyno.results.cell import Cell
from netdyno.results.record import Record
from netdyno.results.statistics import FEWEST, images_per_s, summarise

STEADY = "steady"
NOT_MEASURED = "not measured"
LARGEST_SPREAD = 0.05  # between runs' medians, of their mean
JSON_CELL_FIELDS = (
    "network", "dataset", "framework", "device", "batch", "precision", "execution", "data", "threads",
)  # fmt: skip
JSON_OWN_FIELDS = (
    "images_per_s", "low", "high", "runs", "outcome", "verdict", "step_s", "first_step_s", "host_peak_bytes",
    "device_peak_bytes", "readings", "absent",
)  # fmt: skip
PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One series of runs of a cell on a machine. Without a measured run the speeds are None."""

    cell: Cell
    machine: str
    series: int
    images_per_s: float | None
    low: float | None
    high: float | None
    runs: int  # measured ones
    outcome: str
    verdict: str
    reason: str  # why the last unmeasured run has no measurement
    records: tuple[Record, ...]

    @property
    def measured(self) -> tuple[Record, ...]:
        """The runs that the speed comes from."""
        return _measured(self.records)

    @property
    def readings(self) -> dict[str, float]:
        """The mean over the runs of whatever was read in all of them."""
        names = [run.readings for run in self.measured]
        common = [name for name in names[0] if all(name in others for others in names)] if names else []
        return {name: fmean(run.readings[name] for run in self.measured) for name in common}

    @property
    def absent(self) -> dict[str, str]:
        """What could not be read in some run, and why."""
        return {name: reason for run in self.measured for name, reason in run.absent.items()}

    @property
    def step_s(self) -> dict[str, float]:
        """Percentiles of the blocks' seconds per step, over all runs."""
        seconds = [sample.seconds_per_step for run in self.measured for sample in run.samples]
        found = np.percentile(seconds, PERCENTILES) if seconds else ()
        return {f"p{percent}": float(value) for percent, value in zip(PERCENTILES, found, strict=False)}

    @property
    def first_step_s(self) -> float | None:
        """The mean of the first steps, in which frameworks compile."""
        return _mean([run.first_step_s for run in self.measured])

    @property
    def host_peak_bytes(self) -> float | None:
        return _mean([run.host_peak_bytes for run in self.measured])

    @property
    def device_peak_bytes(self) -> float | None:
        """In use for tensors, as the framework counts."""
        return _mean([run.device_peak_bytes for run in self.measured])


def results_of(records: Iterable[Record], *, every_series: bool = False) -> list[Result]:
    """A result per machine and cell: of its newest series, or one of each; in order of cells."""
    groups: dict[tuple[Cell, str, int], list[Record]] = {}
    for record in records:
        groups.setdefault((record.cell, record.machine, record.series), []).append(record)
    ordered = sorted(groups)
    if not every_series:
        newest = newest_of(
            (cell, machine, series, groups[cell, machine, series]) for cell, machine, series in ordered
        )
        ordered = [(cell, machine, series) for (cell, machine), series in newest.items()]
    return [_result(sorted(groups[key], key=lambda record: record.number)) for key in ordered]


def newest_of(groups: Iterable[tuple[Cell, str, int, Sequence[Record]]]) -> dict[tuple[Cell, str], int]:
    """The series of each cell and machine that was worked at last: one that was imported may be older than its number
    says. In the order in which cells first come."""
    last: dict[tuple[Cell, str], tuple[str, int]] = {}
    for cell, machine, series, records in groups:
        began = max(record.started_at for record in records), series
        last[cell, machine] = max(began, last.get((cell, machine), began))
    return {key: series for key, (_, series) in last.items()}


def to_json(result: Result) -> dict[str, Any]:
    """What `--json` prints of a result; speeds are null where nothing was measured."""
    cell = {name: getattr(result.cell, name) for name in JSON_CELL_FIELDS}
    return cell | {name: getattr(result, name) for name in JSON_OWN_FIELDS}


def _result(records: Sequence[Record]) -> Result:
    last = records[-1]
    measured = _measured(records)
    unmeasured = [record for record in records if not _is_measured(record)]
    summary = summarise([r.samples for r in measured], last.cell.batch) if measured else None
    return Result(
        cell=last.cell,
        machine=last.machine,
        series=last.series,
        images_per_s=summary.images_per_s if summary else None,
        low=summary.low if summary else None,
        high=summary.high if summary else None,
        runs=len(measured),
        outcome="measured" if measured else last.outcome,
        verdict=_verdict(records, measured),
        reason=unmeasured[-1].reason if unmeasured else "",
        records=tuple(records),
    )


def _measured(records: Sequence[Record]) -> tuple[Record, ...]:
    return tuple(record for record in records if _is_measured(record))


def _is_measured(record: Record) -> bool:
    return record.outcome == "measured" and bool(record.samples)


def _verdict(records: Sequence[Record], measured: Sequence[Record]) -> str:
    if not measured:
        return NOT_MEASURED
    complaints = _flags(measured)
    if _spread(measured) > LARGEST_SPREAD:
        complaints.append("runs differ")
    if len(measured) == 1:
        complaints.append("one run")
    if len(measured) < len(records):
        complaints.append(f"{len(measured)} of {len(records)} measured")
    return ", ".join(complaints) or STEADY


def _flags(measured: Sequence[Record]) -> list[str]:
    """What is weak about the runs, and about how many of them when not all."""
    told: dict[str, list[str]] = {}
    for record in measured:
        few = ("too few blocks",) if len(record.samples) < FEWEST else ()
        for flag in dict.fromkeys((*record.flags, *few)):
            name, _, detail = flag.removesuffix(")").partition(" (")
            told.setdefault(name, []).append(detail)
    return [_flag(name, details, len(measured)) for name, details in told.items()]


def _flag(name: str, details: Sequence[str], runs: int) -> str:
    """A flag with the detail of the first run that has it, and in how many it is when not in all."""
    some = f"{len(details)} of {runs}" if len(details) < runs else ""
    inside = ": ".join(filter(None, (some, details[0])))
    return f"{name} ({inside})" if inside else name


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _spread(measured: Sequence[Record]) -> float:
    speeds = [images_per_s(record.samples, 1) for record in measured]
    return (max(speeds) - min(speeds)) / (sum(speeds) / len(speeds))
