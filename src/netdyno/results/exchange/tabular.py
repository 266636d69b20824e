"""Results as table files: a row for each result, the same columns in CSV and in Parquet."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, BinaryIO

from netdyno.errors import NetdynoError
from netdyno.results.cell import COUNTS, FIELDS
from netdyno.results.exchange.selection import Selection
from netdyno.results.proof import Proved
from netdyno.results.result import PERCENTILES, Result
from netdyno.results.utilisation import nominal_peak, utilisation

READINGS = (
    "busy_cores", "package_j_per_item", "mean_w", "peak_w", "idle_w", "j_per_item", "j_per_item_above_idle",
    "energy_counter_j", "energy_integral_j", "energy_disagreement", "device_reserved_bytes", "device_seen_bytes",
    "sm_mhz", "memory_mhz", "temperature_c", "utilisation", "throttled", "asked_s", "forward_s", "backward_s",
    "update_s", "compute_items_per_s", "load_items_per_s", "feed_items_per_s",
)  # fmt: skip
STEPS = tuple(f"step_p{percent}_s" for percent in PERCENTILES)
PEAKS = ("host_peak_bytes", "device_peak_bytes")
OWN = ("machine", "series", "outcome", "runs", "headline", "verdict", "reason")
WHOLE = (*COUNTS, "series", "runs")
ROWS_IN_A_GROUP = 10_000  # of Parquet
# With these a spreadsheet takes a text for a formula and runs it; an apostrophe before it keeps it a text.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_csv(selection: Selection, file: BinaryIO) -> int:
    """How many results were written. UTF-8, comma, a line feed after each row."""
    writer, count = csv.writer(_Encoding(file), lineterminator="\n"), 0
    columns = columns_of(selection.figure_names())
    writer.writerow(columns)
    for row in _rows(selection, columns):
        writer.writerow([_cell(value) for value in row.values()])
        count += 1
    return count


def write_parquet(selection: Selection, file: BinaryIO) -> int:
    """How many results were written; one group of rows is in memory at a time."""
    arrow, parquet = _pyarrow()
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    columns, count = columns_of(selection.figure_names()), 0
    schema = arrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    rows = _rows(selection, columns)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(rows, ROWS_IN_A_GROUP)):
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))
            count += len(group)
    return count


def columns_of(figures: Sequence[str]) -> dict[str, type]:
    """Every column with its type: the cell, the result, each figure with its interval and unit, then readings."""
    texts = ("chosen_execution", "other_readings_json", "absent_json", "versions_json")
    numbers = (*STEPS, *PEAKS, "flops_per_s", "of_nominal_peak", *READINGS)
    return {
        **{name: int if name in WHOLE else str for name in (*FIELDS, *OWN)},
        **{f"{name}_{part}": str if part == "unit" else float for name in figures for part in _PARTS},
        "proved": bool,
        **dict.fromkeys(numbers, float),
        **dict.fromkeys((*texts, "first_started_at", "last_ended_at"), str),
    }


def row_of(result: Result, proved: Proved) -> dict[str, Any]:
    """A value for every column that the result has one for: what could not be read is in `absent_json`."""
    readings, last, steps = result.readings, result.records[-1], result.step_s
    figures = {
        f"{name}_{part}": getattr(estimate, part) for name, estimate in result.figures.items() for part in _PARTS
    }
    return {
        **result.cell.columns(),
        **{name: getattr(result, name) for name in OWN},
        **figures,
        "proved": proved.covers(last),
        "chosen_execution": chosen_execution(result),
        **{name: steps.get(f"p{percent}") for name, percent in zip(STEPS, PERCENTILES, strict=True)},
        **{name: getattr(result, name) for name in PEAKS},
        **_shares(result),
        **{name: readings.get(name) for name in READINGS},
        "other_readings_json": _json({name: value for name, value in readings.items() if name not in READINGS}),
        "absent_json": _json(result.absent),
        "versions_json": _json(last.versions),
        "first_started_at": min(record.started_at for record in result.records),
        "last_ended_at": max(record.ended_at for record in result.records),
    }


def chosen_execution(result: Result) -> str | None:
    """Which execution a cell that wanted the fastest ran in; None where it was not chosen by a look."""
    return min(
        {str(run.settings["execution"]) for run in result.measured if "execution" in run.settings}, default=None
    )


def _rows(selection: Selection, columns: Mapping[str, type]) -> Iterator[dict[str, Any]]:
    proved = Proved(selection.store.proofs())
    for result in selection.results():
        row = row_of(result, proved)
        yield {name: row.get(name) for name in columns}


def _shares(result: Result) -> dict[str, float | None]:
    record = result.measured[-1] if result.measured else None
    found = utilisation(record, nominal_peak(record), None) if record else None
    return {
        "flops_per_s": found.flops_per_s if found else None,
        "of_nominal_peak": found.of_nominal if found else None,
    }


def _json(value: Mapping[str, Any]) -> str | None:
    return json.dumps(value, sort_keys=True) if value else None


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        hint = "Install it: pip install 'netdyno[parquet]'."
        raise NetdynoError("Parquet needs pyarrow, which is missing.", hint=hint) from error


class _Encoding:
    """What csv writes to, in a file of bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode("utf-8", "replace"))


_PARTS = ("value", "low", "high", "unit")
