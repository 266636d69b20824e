"""What the page keeps of a result once its samples are dropped: one row of the table, one bar of each chart."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from math import fsum, sqrt
from typing import Any

from netdyno.report.figures import missing_of, per_step_of, run_values
from netdyno.report.names import device_name
from netdyno.report.vocabulary import Wording, page_wording
from netdyno.results.cell import FIELDS, Cell
from netdyno.results.cores import crowding
from netdyno.results.figure import Estimate
from netdyno.results.proof import Proved
from netdyno.results.record import Record
from netdyno.results.result import STEADY, Result, results_of
from netdyno.results.selectors import fields_of, select
from netdyno.results.student import quantile
from netdyno.results.utilisation import nominal_peak, utilisation

CONFIDENCE = 0.95  # of the interval of a figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure in the unit in which the page shows it, with its 95 % interval, which a single run does not have."""

    wording: Wording
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """A figure that a measured result lacks."""

    wording: Wording
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A result in figures."""

    workload: str
    cell: Cell
    machine: str
    place: str  # the processor's or GPU's name
    series: int
    runs: int
    outcome: str
    verdict: str
    reason: str
    proved: bool
    headline: str  # name of the main figure
    figures: Mapping[str, Figure]
    missing: Mapping[str, Hole]
    per_step: float  # items
    mfu: float | None
    chosen: str  # the execution that a trial of all of them chose
    crowding: str
    started_at: str
    ended_at: str

    @property
    def head(self) -> Figure | None:
        """The main figure; None where nothing was measured."""
        return self.figures.get(self.headline)

    @property
    def is_measured(self) -> bool:
        """Whether some run has figures; an imported record may lack them and be called measured."""
        return self.outcome == "measured" and self.runs > 0

    @property
    def is_weak(self) -> bool:
        return self.is_measured and self.verdict != STEADY

    @property
    def execution(self) -> str:
        return self.chosen or self.cell.execution


def results_by_cell(records: Iterable[Record], selector: str = "") -> Iterator[Result]:
    """The results of records sorted by cell; only one cell's runs are in memory at a time."""
    every_series = bool(selector) and "series" in fields_of(selector)
    for _, runs in groupby(records, key=lambda record: (record.machine, record.cell)):
        found = results_of(runs, every_series=every_series)
        yield from select(found, selector) if selector else found


def row_of(result: Result, proved: Proved) -> Row:
    """The result without its samples."""
    last = result.records[-1]
    return Row(
        workload=result.cell.workload,
        cell=result.cell,
        machine=result.machine,
        place=place_name(last.environment, result.cell.device),
        series=result.series,
        runs=result.runs,
        outcome=result.outcome,
        verdict=result.verdict,
        reason=result.reason,
        proved=proved.covers_result(result),
        headline=result.headline,
        figures=_figures(result),
        missing=_missing(result),
        per_step=per_step_of(result),
        mfu=_mfu(result),
        chosen=_chosen(result),
        crowding=crowding(result.cell.threads, _cores(last.environment)) if result.cell.device == "cpu" else "",
        started_at=min(record.started_at for record in result.records),
        ended_at=max(record.ended_at for record in result.records),
    )


def row_id(row: Row) -> str:
    """The end of a link to a result: ten hex digits, the same in every report of the same series."""
    cell = [str(getattr(row.cell, name)) for name in FIELDS]
    words = "\n".join((row.machine, *cell, str(row.series)))
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:10]


def place_name(environment: Mapping[str, Any], device: str) -> str:
    """The usual name of the processor or GPU; an imported record may not have one."""
    name = _gpu_name(environment) if device != "cpu" else environment.get("cpu")
    return device_name(name) or f"unnamed {device}"


def _figures(result: Result) -> dict[str, Figure]:
    found = {}
    for name, estimate in result.figures.items():
        words = page_wording(result.cell.workload, name, estimate.unit, estimate.better)
        if not words.is_detail or name == result.headline:
            low, high = _interval(result, name, estimate)
            low, high = (None if end is None else words.scale * end for end in (low, high))
            found[name] = Figure(wording=words, value=words.scale * estimate.value, low=low, high=high)
    return found


def _missing(result: Result) -> dict[str, Hole]:
    found = {}
    for name, missing in missing_of(result).items():
        words = page_wording(result.cell.workload, name, missing.unit, "none")
        if not words.is_detail:
            found[name] = Hole(wording=words, reason=missing.reason)
    return found


def _interval(result: Result, name: str, estimate: Estimate) -> tuple[float | None, float | None]:
    """The main figure's own interval; of the others Student's interval for the mean over the runs."""
    if name == result.headline or estimate.low is None:
        return estimate.low, estimate.high
    values = run_values(result, name)
    mean = fsum(values) / len(values)
    variance = fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    reach = _t(len(values) - 1) * sqrt(variance / len(values))
    return max(mean - reach, 0.0), mean + reach


@cache
def _t(degrees: int) -> float:
    """Cached: few numbers of runs occur, and a quantile takes a millisecond to find."""
    return quantile((1 + CONFIDENCE) / 2, degrees)


def _gpu_name(environment: Mapping[str, Any]) -> str | None:
    gpus = environment.get("gpus")
    first = gpus[0] if isinstance(gpus, list) and gpus else None
    name = first.get("name") if isinstance(first, Mapping) else None
    return name if isinstance(name, str) else None


def _cores(environment: Mapping[str, Any]) -> dict[str, float]:
    found = {name: environment.get(name) for name in ("usable_cores", "physical_cores")}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def _mfu(result: Result) -> float | None:
    if not result.measured or _gpu_name(result.measured[-1].environment) is None:
        return None
    record = result.measured[-1]
    found = utilisation(record, nominal_peak(record), None)
    return found.of_nominal if found else None


def _chosen(result: Result) -> str:
    found = {str(record.settings.get("execution", "")) for record in result.measured} - {""}
    return min(found) if found else ""
