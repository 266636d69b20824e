"""What a cell's runs come to: its figures with their intervals, and a verdict on how far to trust them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import msgspec

from netdyno.results.cell import Cell
from netdyno.results.figure import Estimate
from netdyno.results.record import MEASURED, Record
from netdyno.results.statistics import FEWEST, estimates, quantile, rate

STEADY = "steady"
NOT_MEASURED = "not measured"
LARGEST_SPREAD = 0.05  # between runs' medians, of their mean
JSON_EXTRAS = ("step_s", "host_peak_bytes", "device_peak_bytes", "readings", "absent")
PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One series of runs of a cell on a machine. Without a measured run it has no figures."""

    cell: Cell
    machine: str
    series: int
    headline: str  # the name of the main figure; empty where no run says it
    figures: Mapping[str, Estimate]
    runs: int  # measured ones
    outcome: str
    verdict: str
    reason: str  # why the last unmeasured run has no measurement
    records: tuple[Record, ...]

    @property
    def head(self) -> Estimate | None:
        """The main figure."""
        return self.figures.get(self.headline)

    @property
    def measured(self) -> tuple[Record, ...]:
        """The runs that the figures come from."""
        return tuple(record for record in self.records if record.is_measured)

    @property
    def reached(self) -> int:
        """How many runs came to their goal; a run without a goal does when it is measured."""
        return sum(record.outcome == MEASURED for record in self.records)

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
        seconds = sorted(sample.seconds_per_step for run in self.measured for sample in run.samples)
        return {f"p{percent}": quantile(seconds, percent / 100) for percent in PERCENTILES} if seconds else {}

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
    """What `--json` prints of a result: scripts rely on these names."""
    own = {name: getattr(result, name) for name in ("outcome", "verdict", "runs", "headline")}
    figures = {name: msgspec.to_builtins(estimate) for name, estimate in result.figures.items()}
    extras = {name: getattr(result, name) for name in JSON_EXTRAS}
    return {**result.cell.as_dict(), **own, "figures": figures, **extras}


def _result(records: Sequence[Record]) -> Result:
    last = records[-1]
    measured = [record for record in records if record.is_measured]
    unmeasured = [record for record in records if not record.is_measured]
    return Result(
        cell=last.cell,
        machine=last.machine,
        series=last.series,
        headline=(measured or records)[-1].headline,
        figures=estimates(measured),
        runs=len(measured),
        outcome=_outcome(measured) or last.outcome,
        verdict=_verdict(records, measured),
        reason=unmeasured[-1].reason if unmeasured else "",
        records=tuple(records),
    )


def _outcome(measured: Sequence[Record]) -> str:
    """That of the runs with figures: measured if any was, else short of its goal."""
    outcomes = [record.outcome for record in measured]
    return MEASURED if MEASURED in outcomes else "".join(outcomes[-1:])


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
    details: dict[str, list[str]] = {}
    for record in measured:
        few = ("too few blocks",) if 0 < len(record.samples) < FEWEST else ()
        for flag in dict.fromkeys((*record.flags, *few)):
            name, _, detail = flag.removesuffix(")").partition(" (")
            details.setdefault(name, []).append(detail)
    return [_flag(name, found, len(measured)) for name, found in details.items()]


def _flag(name: str, details: Sequence[str], runs: int) -> str:
    """A flag with the detail of the first run that has it, and in how many it is when not in all."""
    some = f"{len(details)} of {runs}" if len(details) < runs else ""
    inside = ": ".join(filter(None, (some, details[0])))
    return f"{name} ({inside})" if inside else name


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _spread(measured: Sequence[Record]) -> float:
    """Between the runs' median steps; none where nothing was timed in blocks, as with different seeds."""
    speeds = [rate(record.samples) for record in measured if record.samples]
    return (max(speeds) - min(speeds)) / (sum(speeds) / len(speeds)) if speeds else 0.0
