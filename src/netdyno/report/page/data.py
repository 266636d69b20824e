"""The data of the page's script: every row of the table and its details, in a compact form.

Texts, figures and environments are written once and referred to by their index. When there are very many runs, fewer
blocks of each are kept, evenly over time, and the page says so.
"""

import json
import shlex
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from netdyno.report.charts.palette import look
from netdyno.report.figures import TRAIN
from netdyno.report.names import short_names, unusual
from netdyno.report.page.compact import compact, dumped, epoch_s, evenly, finite, script_safe
from netdyno.report.page.contests import Proved
from netdyno.report.page.headline import complaints
from netdyno.report.page.rows import Row, row_of
from netdyno.report.vocabulary import Wording
from netdyno.results.cell import Cell
from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.statistics import value_of
from netdyno.results.store.bulk import in_batches

Traces = Callable[[Sequence[str]], Mapping[str, Mapping[str, Any]]]

BLOCKS = 300_000  # of all runs together; beyond, fewer are kept of each
TRACE_POINTS = 60_000  # of all traces together
MOST_BLOCKS, FEWEST_BLOCKS = 200, 5  # of a run
MOST_POINTS, FEWEST_POINTS = 200, 10  # of a trace; if fewer could be kept, no trace is drawn
MOST_TRACED = TRACE_POINTS // FEWEST_POINTS  # results; with more, no trace is even read
NAMED_RUNS = 5_000  # with more runs, the names of their folders are left out
VOLATILE = "load"  # the part of an environment that differs in every run, so kept with the run

COLUMNS = (
    "id", "workload", "network", "dataset", "framework", "place", "machine", "device", "threads", "batch",
    "precision", "execution", "chosen", "data", "others", "series", "headline", "figures", "per_step", "mfu", "runs",
    "outcome", "flags", "reason", "proved", "crowding", "command", "environment", "versions", "settings",
    "readings", "absent", "steps", "trace",
)  # fmt: skip
RUN_COLUMNS = (
    "number", "outcome", "head", "flags", "reason", "started", "took_s", "build_s", "first_step_s", "loss_first",
    "loss_last", "host_bytes", "device_bytes", "load", "blocks", "id",
)  # fmt: skip
CELL_TEXTS = ("network", "dataset", "framework", "device", "precision", "execution", "data")
ROW_TEXTS = ("workload", "place", "machine", "chosen", "outcome", "reason", "crowding")
BLOCKS_AT, ID_AT = RUN_COLUMNS.index("blocks"), RUN_COLUMNS.index("id")
NETWORK_AT, FRAMEWORK_AT, TRACE_AT = (COLUMNS.index(name) for name in ("network", "framework", "trace"))


class PageData:
    """Takes results one at a time; `to_json` gives the data of all of them."""

    def __init__(self, proved: Collection[Proved]) -> None:
        self._proved = proved
        self._texts: dict[str, int] = {}
        self._objects: dict[str, int] = {}
        self._readings: dict[str, int] = {}
        self._figures: dict[tuple[str, str], Wording] = {}  # by name and unit
        self._rows: list[list[Any]] = []
        self._runs: list[list[list[Any]]] = []
        self._traces = 0
        self._traced: dict[str, int] = {}  # the run whose trace a row shows → the row's index
        self._is_untraced = False
        self.run_count = 0

    def add(self, result: Result) -> Row:
        """Keep what the page needs of a result."""
        row = row_of(result, self._proved)
        if result.measured:
            self._traced[result.measured[-1].id] = len(self._rows)
        self._rows.append(self._row(row, result))
        self._runs.append([self._run(record, row) for record in result.records])
        self.run_count += len(result.records)
        return row

    def add_traces(self, traces: Traces) -> None:
        """Add the trace of the last measured run of each result, unless there are too many results."""
        self._is_untraced = len(self._traced) > MOST_TRACED
        for some in in_batches([] if self._is_untraced else self._traced):
            found = traces(some)
            for id_ in some:  # in the rows' order, whatever a database's is
                self._rows[self._traced[id_]][TRACE_AT] = self._curves(found.get(id_))

    def left_out(self) -> str:
        """What there was no room for, in words; empty if nothing was left out."""
        parts = []
        if self._blocks_each < MOST_BLOCKS:
            parts.append(f"at most {self._blocks_each} timed blocks of each run")
        if self._points_each < MOST_POINTS:
            parts.append(f"at most {self._points_each} points of each trace" if self._points_each else "no traces")
        if self.run_count > NAMED_RUNS:
            parts.append("no names of run folders")
        return f"It carries {', '.join(parts)}; the figures come from everything that was measured." if parts else ""

    def to_json(self) -> str:
        """Strict JSON that may stand in a script element."""
        names = self._network_names()
        content = {
            "columns": COLUMNS,
            "runColumns": RUN_COLUMNS,
            "texts": list(self._texts),
            "objects": [json.loads(text) for text in self._objects],
            "readings": list(self._readings),
            "figures": [_described(words) for words in self._figures.values()],
            "looks": self._looks(),
            "rows": [self._finished_row(row, names) for row in self._rows],
            "runs": [[self._finished_run(run) for run in runs] for runs in self._runs],
        }
        return script_safe(content)

    @property
    def _blocks_each(self) -> int:
        return max(FEWEST_BLOCKS, min(MOST_BLOCKS, BLOCKS // max(self.run_count, 1)))

    @property
    def _points_each(self) -> int:
        fair = min(MOST_POINTS, TRACE_POINTS // max(self._traces, 1))
        return fair if fair >= FEWEST_POINTS and not self._is_untraced else 0

    def _network_names(self) -> dict[int, int]:
        """From the index of each network's name to that of the name shown."""
        texts = list(self._texts)
        places = {texts[place]: place for place in {row[NETWORK_AT] for row in self._rows}}
        return {places[name]: self._text(short) for name, short in short_names(set(places)).items()}

    def _looks(self) -> dict[int, tuple[str, str, int]]:
        texts = list(self._texts)
        shown = {place: look(texts[place]) for place in {row[FRAMEWORK_AT] for row in self._rows}}
        return {place: (found.name, found.css, found.order) for place, found in shown.items()}

    def _row(self, row: Row, result: Result) -> list[Any]:
        last = result.records[-1]
        stable = {name: value for name, value in last.environment.items() if name != VOLATILE}
        values: dict[str, Any] = {
            **{name: self._text(getattr(row.cell, name)) for name in CELL_TEXTS},
            **{name: self._text(getattr(row, name)) for name in ROW_TEXTS},
            **{name: getattr(row, name) for name in ("id", "series", "runs")},
            **{name: getattr(row.cell, name) for name in ("threads", "batch")},
            **self._numbers(row),
            "per_step": compact(row.per_step),
            "mfu": compact(row.mfu),
            "flags": [self._text(part) for part in (complaints(row.verdict) if row.is_weak else ())],
            "proved": int(row.proved),
            "others": self._text(", ".join(unusual(row.cell))),
            "command": self._text(repeating_command(row.cell)),
            "environment": self._object(stable),
            "versions": self._object(last.versions),
            "settings": self._object(last.settings),
            "readings": self._values(result.readings),
            "absent": [[self._text(name), self._text(why)] for name, why in result.absent.items()],
            "steps": [compact(value) for value in result.step_s.values()],
            "trace": self._curves(result.measured[-1].trace) if result.measured else [],
        }
        return [values[name] for name in COLUMNS]

    def _numbers(self, row: Row) -> dict[str, Any]:
        """The row's figures by their index, each as value, low and high; and the index of the main one."""
        for figure in row.figures.values():
            self._figures.setdefault((figure.wording.name, figure.wording.unit), figure.wording)
        own = {(each.wording.name, each.wording.unit): each for each in row.figures.values()}
        found = [own.get(key) for key in self._figures]
        while found and found[-1] is None:
            found.pop()
        head = next((index for index, each in enumerate(found) if each is not None and each is row.head), None)
        numbers = [each and [compact(each.value), compact(each.low), compact(each.high)] for each in found]
        return {"figures": numbers, "headline": head}

    def _run(self, record: Record, row: Row) -> list[Any]:
        started, ended = epoch_s(record.started_at), epoch_s(record.ended_at)
        head = row.head.wording.scale * value_of(record.main, record) if record.main and row.head else None
        values = {
            "number": record.number,
            "outcome": self._text(record.outcome),
            "head": compact(head),
            "flags": [self._text(flag) for flag in record.flags],
            "reason": self._text(record.reason),
            "started": started,
            "took_s": None if started is None or ended is None else ended - started,
            **{
                name: compact(getattr(record, name))
                for name in ("build_s", "first_step_s", "loss_first", "loss_last")
            },
            "host_bytes": record.host_peak_bytes,
            "device_bytes": record.device_peak_bytes,
            "load": compact(record.environment.get(VOLATILE)),
            "blocks": array("f", evenly([sample.seconds_per_step for sample in record.samples], MOST_BLOCKS)),
            "id": record.id,
        }
        return [values[name] for name in RUN_COLUMNS]

    def _curves(self, trace: Mapping[str, Any] | None) -> list[tuple[int, "array[float]"]]:
        """Each reading over time, as seconds and value in turn."""
        found = []
        for name, points in (trace or {}).items():
            if len(points) > 1:
                flat = array("f", (number for point in evenly(points, MOST_POINTS) for number in point))
                found.append((self._text(name), flat))
        self._traces += sum(len(flat) >= 2 * FEWEST_POINTS for _, flat in found)
        return found

    def _values(self, readings: Mapping[str, float]) -> list[float | int | None]:
        """By the index of each reading's name, up to the last one present."""
        for name in readings:
            self._readings.setdefault(name, len(self._readings))
        found = [compact(readings.get(name)) for name in self._readings]
        while found and found[-1] is None:
            found.pop()
        return found

    def _finished_row(self, row: list[Any], names: Mapping[int, int]) -> list[Any]:
        finished = list(row)
        finished[NETWORK_AT] = names[row[NETWORK_AT]]
        shown = row[TRACE_AT] if self._points_each else []
        finished[TRACE_AT] = [[name, self._points(flat)] for name, flat in shown]
        return finished

    def _points(self, flat: "array[float]") -> list[list[float | int | None]]:
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return [[compact(at), compact(value)] for at, value in evenly(pairs, self._points_each)]

    def _finished_run(self, run: list[Any]) -> list[Any]:
        finished = list(run)
        finished[BLOCKS_AT] = [compact(value) for value in evenly(run[BLOCKS_AT], self._blocks_each)]
        if self.run_count > NAMED_RUNS:
            finished[ID_AT] = None
        return finished

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _object(self, value: Mapping[str, Any]) -> int:
        return self._objects.setdefault(dumped(finite(value)), len(self._objects))


def _described(words: Wording) -> dict[str, Any]:
    """What the script needs to show a figure."""
    names = ("name", "title", "unit", "heading", "place")
    return {name: getattr(words, name) for name in names}


def repeating_command(cell: Cell) -> str:
    """The command that measures the cell again, quoted for a shell."""
    device = ["--cpu"] if cell.device == "cpu" else ["--gpus", "1"]
    named = {name: str(getattr(cell, name)) for name in ("network", "dataset", "framework", "batch", "precision")}
    named |= {name: str(getattr(cell, name)) for name in ("execution", "data", "threads")}
    flags = [word for name, value in named.items() for word in (f"--{name}", value)]
    workload = [] if cell.workload == TRAIN else ["--workload", cell.workload]
    options = [word for name, value in cell.options for word in ("--set", f"{name}={value}")]
    return shlex.join(["netdyno", "run", *workload, *flags, *options, *device, "--again"])
