"""How kept results become compact JSON: texts, figures and environments once, and referred to by their index."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netdyno.report.charts.palette import look
from netdyno.report.figures import TRAIN
from netdyno.report.names import is_instrument, short_name, short_reason, unusual
from netdyno.report.page.bars import goodness
from netdyno.report.page.compact import compact, evenly, script_safe
from netdyno.report.page.contests import setting_of
from netdyno.report.page.headline import complaints
from netdyno.report.page.rows import Row, row_id
from netdyno.report.vocabulary import Wording
from netdyno.results.cell import Cell
from netdyno.results.words import DASH, interval

COLUMNS = (
    "id", "workload", "network", "dataset", "framework", "place", "machine", "device", "threads", "batch",
    "precision", "execution", "chosen", "data", "others", "series", "headline", "figures", "interval", "share",
    "per_step", "mfu", "runs", "outcome", "flags", "reason", "short", "proved", "apart", "crowding", "command",
    "environment", "versions", "settings", "readings", "absent", "steps", "trace",
)  # fmt: skip
RUN_COLUMNS = (
    "number", "outcome", "head", "flags", "reason", "started", "took_s", "build_s", "first_step_s", "loss_first",
    "loss_last", "host_bytes", "device_bytes", "load", "blocks", "id",
)  # fmt: skip
CELL_TEXTS = ("dataset", "framework", "device", "precision", "execution", "data")
ROW_TEXTS = ("workload", "place", "machine", "chosen", "outcome", "reason", "crowding")
RUN_NUMBERS = ("head", "build_s", "first_step_s", "loss_first", "loss_last", "load")
DIGITS = 7  # of a figure: the page shows four, and rounding twice must not change them
RUN_PLAIN = ("number", "started", "took_s", "host_bytes", "device_bytes")


@dataclass(slots=True, kw_only=True)
class Kept:
    """What the table needs of a result beside its row; the samples themselves are dropped."""

    place: int  # in the order in which results came
    row: Row
    objects: tuple[str, str, str]  # environment, versions and settings, as JSON
    readings: Mapping[str, float]
    absent: Mapping[str, str]
    steps: list[float | int | None]
    runs: list[dict[str, Any]]
    traced: str  # id of the run whose trace is shown
    trace: Mapping[str, Any]

    @property
    def age(self) -> tuple[str, int]:
        return self.row.ended_at, self.place


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of each result there is room for."""

    blocks: int  # of a run
    points: int  # of a reading over time; 0 for none
    are_runs_named: bool


@dataclass(slots=True, kw_only=True)
class Writer:
    """`names` are the networks' short names."""

    names: Mapping[str, str]
    limits: Limits
    _texts: dict[str, int] = field(default_factory=dict)
    _objects: dict[str, int] = field(default_factory=dict)
    _readings: dict[str, int] = field(default_factory=dict)
    _figures: dict[tuple[str, str], Wording] = field(default_factory=dict)  # by name and unit

    def to_json(self, kept: Sequence[Kept], best: Callable[[Row], float | None]) -> str:
        """Strict JSON that may stand in a script element."""
        rows = [self._row(each, best(each.row)) for each in kept]
        runs = [[self._run(run) for run in each.runs] for each in kept]
        looks = {name: look(name) for name in {each.row.cell.framework for each in kept}}
        content = {
            "columns": COLUMNS,
            "runColumns": RUN_COLUMNS,
            "texts": list(self._texts),
            "objects": [json.loads(text) for text in self._objects],
            "readings": list(self._readings),
            "figures": [_described(words) for words in self._figures.values()],
            "looks": {self._text(name): (each.name, each.css, each.order) for name, each in looks.items()},
            "rows": rows,
            "runs": runs,
        }
        return script_safe(content)

    def _row(self, kept: Kept, best: float | None) -> list[Any]:
        row = kept.row
        environment, versions, settings = (
            self._objects.setdefault(text, len(self._objects)) for text in kept.objects
        )
        values: dict[str, Any] = {
            **{name: self._text(getattr(row.cell, name)) for name in CELL_TEXTS},
            **{name: self._text(getattr(row, name)) for name in ROW_TEXTS},
            **{name: getattr(row, name) for name in ("series", "runs")},
            **{name: getattr(row.cell, name) for name in ("threads", "batch")},
            **self._numbers(row),
            "id": row_id(row),
            "network": self._text(self.names[row.cell.network]),
            "interval": self._text(_interval(row)),
            "share": compact(row.head.value / best) if row.head and best else None,
            "per_step": compact(row.per_step),
            "mfu": compact(row.mfu),
            "flags": [self._text(part) for part in (complaints(row.verdict) if row.is_weak else ())],
            "short": self._text(short_reason(row.reason)),
            "proved": int(row.proved),
            "apart": int(is_instrument(row.cell.framework)),
            "others": self._text(", ".join(unusual(row.cell))),
            "command": self._text(repeating_command(row.cell)),
            "environment": environment,
            "versions": versions,
            "settings": settings,
            "readings": self._values(kept.readings),
            "absent": [[self._text(name), self._text(why)] for name, why in kept.absent.items()],
            "steps": kept.steps,
            "trace": self._curves(kept.trace),
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
        numbers = [each and [compact(part, DIGITS) for part in (each.value, each.low, each.high)] for each in found]
        return {"figures": numbers, "headline": head}

    def _run(self, run: Mapping[str, Any]) -> list[Any]:
        values = {
            **{name: run[name] for name in RUN_PLAIN},
            **{name: compact(run[name]) for name in RUN_NUMBERS},
            **{name: self._text(run[name]) for name in ("outcome", "reason")},
            "flags": [self._text(flag) for flag in run["flags"]],
            "blocks": [compact(value) for value in evenly(run["blocks"], self.limits.blocks)],
            "id": run["id"] if self.limits.are_runs_named else None,
        }
        return [values[name] for name in RUN_COLUMNS]

    def _curves(self, trace: Mapping[str, Any]) -> list[tuple[int, list[list[float | int | None]]]]:
        """Each reading over time, as pairs of seconds and value."""
        shown = trace if self.limits.points else {}
        return [
            (self._text(name), [[compact(at), compact(value)] for at, value in evenly(points, self.limits.points)])
            for name, points in shown.items()
            if len(points) > 1
        ]

    def _values(self, readings: Mapping[str, float]) -> list[float | int | None]:
        """By the index of each reading's name, up to the last one present."""
        for name in readings:
            self._readings.setdefault(name, len(self._readings))
        found = [compact(readings.get(name)) for name in self._readings]
        while found and found[-1] is None:
            found.pop()
        return found

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))


def table_order(row: Row) -> tuple[Any, ...]:
    """Rows that may be compared stand together, the best first; netdyno's own instruments come last."""
    head, own = row.head, look(row.cell.framework)
    setting = setting_of(row.cell, row.machine)
    where = (setting.workload, short_name(setting.network), setting.dataset, setting)
    equal = (own.order, row.cell.framework, row.execution, row.series)
    return is_instrument(row.cell.framework), where, head is None, -goodness(head) if head else 0.0, equal


def repeating_command(cell: Cell) -> str:
    """The command that measures the cell again, quoted for a shell."""
    device = ["--cpu"] if cell.device == "cpu" else ["--gpus", "1"]
    named = {name: str(getattr(cell, name)) for name in ("network", "dataset", "framework", "batch", "precision")}
    named |= {name: str(getattr(cell, name)) for name in ("execution", "data", "threads")}
    flags = [word for name, value in named.items() for word in (f"--{name}", value)]
    workload = [] if cell.workload == TRAIN else ["--workload", cell.workload]
    options = [word for name, value in cell.options for word in ("--set", f"{name}={value}")]
    return shlex.join(["netdyno", "run", *workload, *flags, *options, *device, "--again"])


def _interval(row: Row) -> str:
    return interval(row.head.value, row.head.low, row.head.high) if row.head else DASH


def _described(words: Wording) -> dict[str, Any]:
    """What the script needs to show a figure."""
    names = ("name", "title", "unit", "heading", "place", "meaning")
    return {name: getattr(words, name) for name in names}
