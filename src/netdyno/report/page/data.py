"""The data of the page's script: the newest results with their details, in a bounded number.

When there are very many runs, fewer blocks of each are kept, evenly over time, and the page says so.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from netdyno.report.names import short_names
from netdyno.report.page.compact import compact, epoch_s, evenly
from netdyno.report.page.rows import Row, row_of
from netdyno.report.page.writer import Kept, Limits, Writer, table_order
from netdyno.results.proof import Proved
from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.statistics import value_of
from netdyno.results.store.bulk import in_batches

Traces = Callable[[Sequence[str]], Mapping[str, Mapping[str, Any]]]

MOST_ROWS = 3_000  # of the table: the newest results
SLACK = 500  # results that are too old already wait to be dropped together
BLOCKS = 300_000  # of all runs together; beyond, fewer are kept of each
TRACE_POINTS = 60_000  # of all traces together
MOST_BLOCKS, FEWEST_BLOCKS = 200, 5  # of a run
MOST_POINTS, FEWEST_POINTS = 200, 10  # of a trace; if fewer could be kept, no trace is drawn
MOST_TRACED = 300  # results, the newest, whose traces are read
NAMED_RUNS = 5_000  # with more runs, the names of their folders are left out
VOLATILE = "load"  # the part of an environment that differs in every run, so kept with the run


class PageData:
    """Takes results one at a time; `to_json` gives the data of the newest."""

    def __init__(self, proved: Proved) -> None:
        self._proved = proved
        self._kept: list[Kept] = []
        self._oldest = ("", -1)  # a result that is older is not kept
        self._json: dict[str, str] = {}  # equal texts are kept once
        self.result_count = 0
        self.run_count = 0

    def add(self, result: Result) -> Row:
        """Keep what the page needs of a result."""
        row = row_of(result, self._proved)
        if (row.ended_at, self.result_count) > self._oldest:
            self._kept.append(self._of(result, row))
        self.result_count += 1
        self.run_count += len(result.records)
        if len(self._kept) > MOST_ROWS + SLACK:
            self._prune()
        return row

    def add_traces(self, traces: Traces) -> None:
        """Add the trace of the last measured run of each result, of the newest ones if there are many."""
        self._prune()
        newest = sorted(self._kept, key=lambda each: each.age, reverse=True)
        wanted = {each.traced: each for each in newest[:MOST_TRACED] if each.traced}
        for some in in_batches(wanted):
            for id_, trace in traces(some).items():
                wanted[id_].trace = trace

    def left_out(self) -> str:
        """What there was no room for, in words; empty if nothing was left out."""
        return "\n".join(filter(None, (self._rows_left_out(), self._details_left_out())))

    def to_json(self, best: Callable[[Row], float | None] = lambda _: None) -> str:
        """Strict JSON that may stand in a script element. `best` is the best main figure with a row's settings."""
        self._prune()
        writer = Writer(names=short_names({each.row.cell.network for each in self._kept}), limits=self._limits())
        return writer.to_json(sorted(self._kept, key=lambda each: table_order(each.row)), best)

    def _of(self, result: Result, row: Row) -> Kept:
        last = result.records[-1]
        stable = {name: value for name, value in last.environment.items() if name != VOLATILE}
        objects = [msgspec.json.encode(value).decode() for value in (stable, last.versions, last.settings)]
        environment, versions, settings = (self._json.setdefault(text, text) for text in objects)
        return Kept(
            place=self.result_count,
            row=row,
            objects=(environment, versions, settings),
            readings=result.readings,
            absent=result.absent,
            steps=[compact(value) for value in result.step_s.values()],
            runs=[_run(record, row) for record in result.records],
            traced=result.measured[-1].id if result.measured else "",
            trace=result.measured[-1].trace if result.measured else {},
        )

    def _prune(self) -> None:
        """Keep the newest results only, in the order in which they came."""
        if len(self._kept) > MOST_ROWS:
            newest = sorted(self._kept, key=lambda each: each.age, reverse=True)[:MOST_ROWS]
            self._oldest = newest[-1].age
            self._kept = sorted(newest, key=lambda each: each.place)

    def _limits(self) -> Limits:
        runs = sum(len(each.runs) for each in self._kept)
        traces = sum(len(points) > 1 for each in self._kept for points in each.trace.values())
        points = min(MOST_POINTS, TRACE_POINTS // max(traces, 1))
        return Limits(
            blocks=max(FEWEST_BLOCKS, min(MOST_BLOCKS, BLOCKS // max(runs, 1))),
            points=points if points >= FEWEST_POINTS else 0,
            are_runs_named=runs <= NAMED_RUNS,
        )

    def _rows_left_out(self) -> str:
        shown = len(self._kept)
        if shown == self.result_count:
            return ""
        return (
            f"The table has the newest {shown:,} of {self.result_count:,} results; all that is above comes from all."
            " Choose others: netdyno report network=lenet. Get all of them: netdyno results export -o results.csv"
        )

    def _details_left_out(self) -> str:
        limits, parts = self._limits(), []
        if limits.blocks < MOST_BLOCKS:
            parts.append(f"at most {limits.blocks} timed blocks of each run")
        if not limits.points:
            parts.append("no readings over time")
        elif limits.points < MOST_POINTS or len(self._kept) > MOST_TRACED:
            newest = f" of the newest {MOST_TRACED} results" if len(self._kept) > MOST_TRACED else ""
            parts.append(f"readings over time{newest} with at most {limits.points} points")
        if not limits.are_runs_named:
            parts.append("no names of run folders")
        return (
            f"Details have {', '.join(parts)}; the figures come from everything that was measured." if parts else ""
        )


def _run(record: Record, row: Row) -> dict[str, Any]:
    started, ended = epoch_s(record.started_at), epoch_s(record.ended_at)
    return {
        "number": record.number,
        "outcome": record.outcome,
        "head": row.head.wording.scale * value_of(record.main, record) if record.main and row.head else None,
        "flags": record.flags,
        "reason": record.reason,
        "started": started,
        "took_s": None if started is None or ended is None else ended - started,
        **{name: getattr(record, name) for name in ("build_s", "first_step_s", "loss_first", "loss_last")},
        "host_bytes": record.host_peak_bytes,
        "device_bytes": record.device_peak_bytes,
        "load": record.environment.get(VOLATILE),
        "blocks": array("f", evenly([sample.seconds_per_step for sample in record.samples], MOST_BLOCKS)),
        "id": record.id,
    }
