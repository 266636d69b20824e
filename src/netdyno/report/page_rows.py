"""What a page needs of a result once its samples are put aside: one row of the table, one bar of each chart."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from netdyno.report.headline_contests import Proved, is_proved
from netdyno.report.page_metrics import Figure, figures
from netdyno.results.cell import Cell
from netdyno.results.cores import crowding
from netdyno.results.record import Record
from netdyno.results.result import STEADY, Result, results_of
from netdyno.results.selectors import fields_of, select
from netdyno.results.utilisation import nominal_peak, utilisation

# What makers add to a name that tells nobody anything.
ADORNMENTS = re.compile(r"\((R|TM|C)\)|\s(\d+-Core\s)?Processor\b|\sCPU\b|\s@.*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A result in figures. `id` is what a link to it ends with."""

    id: str
    cell: Cell
    machine: str
    place: str  # the processor's or GPU's name
    series: int
    runs: int
    outcome: str
    verdict: str
    reason: str
    proved: bool
    figures: Mapping[str, Figure]  # by metric's name
    mfu: float | None
    first_step_s: float | None
    chosen: str  # execution, where a look at all of them chose it
    crowding: str
    started_at: str
    ended_at: str

    @property
    def is_measured(self) -> bool:
        return self.outcome == "measured"

    @property
    def is_weak(self) -> bool:
        return self.is_measured and self.verdict != STEADY

    @property
    def execution(self) -> str:
        return self.chosen or self.cell.execution


def results_by_cell(records: Iterable[Record], selector: str = "") -> Iterator[Result]:
    """The results of records whose runs of a cell come side by side; only one cell's runs are in memory at a time."""
    every_series = bool(selector) and "series" in fields_of(selector)
    for _, runs in groupby(records, key=lambda record: (record.machine, record.cell)):
        found = results_of(runs, every_series=every_series)
        yield from select(found, selector) if selector else found


def row_of(result: Result, proved: Collection[Proved]) -> Row:
    """The result without its samples."""
    last = result.records[-1]
    return Row(
        id=row_id(result),
        cell=result.cell,
        machine=result.machine,
        place=place_name(last.environment, result.cell.device),
        series=result.series,
        runs=result.runs,
        outcome=result.outcome,
        verdict=result.verdict,
        reason=result.reason,
        proved=is_proved(result, proved),
        figures=figures(result),
        mfu=_mfu(result),
        first_step_s=first.value if (first := result.figures.get("first_step")) else None,
        chosen=_chosen(result),
        crowding=crowding(result.cell.threads, _cores(last.environment)) if result.cell.device == "cpu" else "",
        started_at=min(record.started_at for record in result.records),
        ended_at=max(record.ended_at for record in result.records),
    )


def row_id(result: Result) -> str:
    """Ten hex digits, the same in every report of the same series."""
    words = "\n".join((result.machine, result.cell.key(), str(result.series)))
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:10]


def place_name(environment: Mapping[str, Any], device: str) -> str:
    """What people call the processor or GPU; an imported record may not say."""
    name = _gpu_name(environment) if device != "cpu" else environment.get("cpu")
    plain = " ".join(ADORNMENTS.sub(" ", name).split()) if isinstance(name, str) else ""
    return plain or f"unnamed {device}"


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
