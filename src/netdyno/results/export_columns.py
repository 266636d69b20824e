"""What a row of a table file says of a result: its columns with their units, the same for CSV and Parquet."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from netdyno.results.cell import FIELDS
from netdyno.results.proof import Proof, is_proved
from netdyno.results.result import PERCENTILES, Result
from netdyno.results.utilisation import nominal_peak, utilisation

WHOLE_FIELDS = ("batch", "threads")
READINGS = (
    "busy_cores", "package_j_per_item", "mean_w", "peak_w", "idle_w", "j_per_item", "j_per_item_above_idle",
    "energy_counter_j", "energy_integral_j", "energy_disagreement", "device_reserved_bytes", "device_seen_bytes",
    "sm_mhz", "memory_mhz", "temperature_c", "utilisation", "throttled", "asked_s", "forward_s", "backward_s",
    "update_s", "compute_items_per_s", "load_items_per_s", "feed_items_per_s",
)  # fmt: skip
STEPS = tuple(f"step_p{percent}_s" for percent in PERCENTILES)
PEAKS = ("first_step_s", "host_peak_bytes", "device_peak_bytes")

COLUMNS: Mapping[str, type] = {
    **{name: int if name in WHOLE_FIELDS else str for name in FIELDS},
    "machine": str,
    "series": int,
    "outcome": str,
    "runs": int,
    **dict.fromkeys(("images_per_s", "images_per_s_low", "images_per_s_high"), float),
    "verdict": str,
    "reason": str,
    "proved": bool,
    "chosen_execution": str,
    **dict.fromkeys((*STEPS, *PEAKS, "flops_per_s", "of_nominal_peak"), float),
    **dict.fromkeys(READINGS, float),
    **dict.fromkeys(("other_readings_json", "absent_json", "versions_json"), str),
    **dict.fromkeys(("first_started_at", "last_ended_at"), str),
}


def row_of(result: Result, proofs: Sequence[Proof]) -> dict[str, Any]:
    """A value for every column, None where there is none: what could not be read is in `absent_json`."""
    readings, last = result.readings, result.records[-1]
    speeds = {"images_per_s": result.images_per_s, "images_per_s_low": result.low, "images_per_s_high": result.high}
    steps = result.step_s
    return {
        **result.cell.as_dict(),
        **{name: getattr(result, name) for name in ("machine", "series", "outcome", "runs", "verdict", "reason")},
        **speeds,
        "proved": is_proved(result.cell, proofs),
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


def _shares(result: Result) -> dict[str, float | None]:
    if not result.measured:
        return {"flops_per_s": None, "of_nominal_peak": None}
    record = result.measured[-1]
    found = utilisation(record, nominal_peak(record), None)
    return {
        "flops_per_s": found.flops_per_s if found else None,
        "of_nominal_peak": found.of_nominal if found else None,
    }


def _json(told: Mapping[str, Any]) -> str | None:
    return json.dumps(told, sort_keys=True) if told else None
