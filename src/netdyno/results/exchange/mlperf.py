"""Runs as log lines in the format of MLPerf's logging: a log for each run, one behind the other.

They can be read by what reads such logs. They are no submission.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from math import isfinite
from typing import Any, BinaryIO

from netdyno.results.exchange.selection import Selection
from netdyno.results.record import Record
from netdyno.results.statistics import rate, value_of

TOKEN = ":::MLLOG "
START, END, POINT = "INTERVAL_START", "INTERVAL_END", "POINT_IN_TIME"

Event = tuple[float, str, str, Any, dict[str, Any]]
"""Milliseconds since 1970, the type, key, value, metadata."""


def write_mlperf(selection: Selection, file: BinaryIO) -> int:
    """How many runs were written."""
    count = 0
    for count, record in enumerate(selection.records(), 1):  # noqa: B007 (returned)
        file.write(log_of(record).encode())
    return count


def log_of(record: Record) -> str:
    """The log of one run; its namespace is the record's id, which tells it from others in the same file."""
    return "".join(_line(record.id, event) for event in (*_head(record), *_run(record)))


def _line(namespace: str, event: Event) -> str:
    at_ms, kind, key, value, metadata = event
    start = {"namespace": namespace, "time_ms": round(at_ms), "event_type": kind}
    return TOKEN + json.dumps({**start, "key": key, "value": value, "metadata": metadata}) + "\n"


def _head(record: Record) -> Iterator[Event]:
    """What was run, where, and how it was prepared."""
    at_ms, cell = _ms(record.started_at), record.cell
    points = {
        "submission_benchmark": cell.network,
        "submission_org": "netdyno",
        "submission_division": "open",
        "submission_status": "research",
        "submission_platform": _platform(record),
        "global_batch_size": cell.batch,
    }
    about = {**cell.as_dict(), "versions": dict(record.versions), "netdyno": record.netdyno_version}
    for key, value in points.items():
        yield at_ms, POINT, key, value, about if key == "submission_benchmark" else {}
    yield at_ms, START, "init_start", None, {}


def _run(record: Record) -> Iterator[Event]:
    """The timed blocks. A record knows when it ended and how long they took, so they are placed before its end."""
    end_ms = _ms(record.ended_at)
    at_ms = max(_ms(record.started_at), end_ms - 1e3 * sum(sample.seconds for sample in record.samples))
    yield at_ms, END, "init_stop", None, {}
    yield at_ms, START, "run_start", None, {}
    rates = {name: one.per_step for name, one in record.figures.items() if one.per_step is not None}
    items = 0
    for sample in record.samples:
        yield at_ms, START, "block_start", None, {"samples_count": items}
        items += sample.steps * record.cell.batch
        at_ms = min(end_ms, at_ms + 1e3 * sample.seconds)
        yield at_ms, POINT, "tracked_stats", {name: rate([sample], n) for name, n in rates.items()}, {"step": items}
        yield at_ms, END, "block_stop", None, {"samples_count": items}
    for point in record.curve:
        loss, accuracy = ("eval_loss", _finite(point.loss)), ("eval_accuracy", point.accuracy)
        key, value = loss if point.accuracy is None else accuracy
        yield end_ms, POINT, key, value, {"step": point.step, "train_s": _finite(point.train_s)}
    yield from _stop(record, end_ms, items)


def _stop(record: Record, end_ms: float, items: int) -> Iterator[Event]:
    if not record.is_measured:
        aborted = {"status": "aborted", "outcome": record.outcome, "reason": record.reason}
        yield end_ms, END, "run_stop", None, {"samples_count": 0, **aborted}
        return
    whole = {name: value_of(figure, record) for name, figure in record.figures.items()}
    yield end_ms, POINT, "tracked_stats", whole, {"step": items, "of": "the run: rates are at the median block"}
    flags = {"flags": list(record.flags)} if record.flags else {}
    yield end_ms, END, "run_stop", None, {"samples_count": items, "status": "success", **flags}


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _platform(record: Record) -> str:
    gpus = record.environment.get("gpus") or []
    named = gpus[0].get("name") if record.cell.device != "cpu" and gpus else record.environment.get("cpu")
    return str(named or record.machine or "unknown")


def _ms(moment: str) -> float:
    return 1e3 * datetime.fromisoformat(moment).timestamp()
