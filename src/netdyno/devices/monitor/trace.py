"""What the monitor writes: CSV, line by line while it runs; read afterwards as far as it is readable."""

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FORMAT = 1
TRACE = "monitor.csv"  # its name in a run folder
Series = tuple[tuple[float, float], ...]
Fact = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace as read. `problem` says what was wrong with the file; whatever could be read is here nevertheless."""

    facts: Mapping[str, Mapping[str, Fact]] = field(default_factory=dict)  # by sensor
    missing: Mapping[str, str] = field(default_factory=dict)  # the reason, by column
    refresh_s: Mapping[str, float] = field(default_factory=dict)  # by sensor, where it is known
    names: tuple[str, ...] = ()
    columns: Mapping[str, Series] = field(default_factory=dict, repr=False)
    problem: str = ""

    @property
    def gpus(self) -> tuple[str, ...]:
        """The sensors that are GPUs of the run, also those that could not be opened, in the run's order."""
        sensors = {name.partition(".")[0] for name in (*self.columns, *self.missing)}
        return tuple(sorted(filter(re.compile(r"gpu\d+").fullmatch, sensors), key=lambda name: int(name[3:])))

    def series(self, name: str) -> Series:
        """(time.monotonic() in seconds, value) of every row that has the reading."""
        return self.columns.get(name, ())


def start_lines(
    names: Sequence[str],
    *,
    facts: Mapping[str, Mapping[str, Fact]] | None = None,
    missing: Mapping[str, str] | None = None,
    refresh_s: Mapping[str, float] | None = None,
) -> str:
    """The first two lines: what is known beforehand, and the names of the columns."""
    known = {"format": FORMAT, "facts": facts or {}, "missing": missing or {}, "refresh_s": refresh_s or {}}
    return _note(known) + ",".join(("at", *names)) + "\n"


def row_line(at: float, names: Sequence[str], values: Mapping[str, float]) -> str:
    """One row; the cell of a reading that it does not have is empty."""
    cells = [f"{values[name]:.15g}" if name in values else "" for name in names]
    return ",".join((f"{at:.6f}", *cells)) + "\n"


def missing_line(at: float, missing: Mapping[str, str]) -> str:
    """Readings that ended during the run, and why."""
    return _note({"at": at, "missing": dict(missing)})


def problem_line(at: float, problem: str) -> str:
    """Why the monitor itself could not continue."""
    return _note({"at": at, "problem": problem})


def append_problem(path: Path, problem: str) -> None:
    """Add a problem that the host has noticed; a line that the monitor left incomplete is made unreadable."""
    try:
        with path.open("ab+") as file:
            file.seek(max(file.tell() - 1, 0))
            cut = file.read() not in (b"", b"\n")
            file.write(("?\n" if cut else "").encode() + problem_line(time.monotonic(), problem).encode())
    except OSError:
        return  # nothing can be written here: the reader finds no trace and says so


def read_trace(path: Path) -> Trace:
    """What can be read of a trace; the monitor or the machine may have died at any byte of it."""
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        return Trace(problem=f"the monitor left no trace: {error.strerror}")
    lines = text.split("\n")
    cut = lines.pop()
    start = _find_note(lines[0]) if lines else None
    if start is None or start.get("format") != FORMAT or len(lines) < 2:
        wrong = "the monitor's trace does not start as one of this format"
        return Trace(problem=_texts(start).get("problem", wrong))
    return _read_lines(start, lines[1:], "the last line of the monitor's trace is cut" if cut else "")


def _read_lines(start: Mapping[str, object], lines: Sequence[str], problem: str) -> Trace:
    names = tuple(lines[0].split(",")[1:])
    columns: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    missing = _texts(start.get("missing"))
    unreadable = 0
    for line in lines[1:]:
        note, row = _find_note(line), _find_row(line, len(names))
        if note is not None:
            missing |= _texts(note.get("missing"))
            problem = _texts(note).get("problem", problem)
        elif row is None:
            unreadable += 1
        else:
            _add_row(row, names, columns)
    return Trace(
        facts=_tables(start.get("facts")),
        missing=missing,
        refresh_s=_numbers(start.get("refresh_s")),
        names=names,
        columns={name: tuple(points) for name, points in columns.items()},
        problem=problem or (f"{unreadable} lines of the monitor's trace are not readable" if unreadable else ""),
    )


def _add_row(
    row: Sequence[float | None], names: Sequence[str], columns: Mapping[str, list[tuple[float, float]]]
) -> None:
    at, *values = row
    for name, value in zip(names, values, strict=True):
        if at is not None and value is not None:
            columns[name].append((at, value))


def _find_row(line: str, width: int) -> list[float | None] | None:
    """The time and the values, None for an empty cell; None altogether if this is no row."""
    cells = line.split(",")
    if len(cells) != width + 1 or not cells[0]:
        return None
    try:
        row = [float(cell) if cell else None for cell in cells]
    except ValueError:
        return None
    return row if all(value is None or math.isfinite(value) for value in row) else None


def _find_note(line: str) -> dict[str, object] | None:
    if not line.startswith("# "):
        return None
    try:
        note = json.loads(line[2:])
    except ValueError:
        return None
    return note if isinstance(note, dict) else None


def _note(content: Mapping[str, object]) -> str:
    return f"# {json.dumps(content, ensure_ascii=False)}\n"


def _texts(part: object) -> dict[str, str]:
    return {name: text for name, text in part.items() if isinstance(text, str)} if isinstance(part, dict) else {}


def _tables(part: object) -> dict[str, dict[str, Fact]]:
    return {name: value for name, value in part.items() if isinstance(value, dict)} if isinstance(part, dict) else {}


def _numbers(part: object) -> dict[str, float]:
    if not isinstance(part, dict):
        return {}
    return {name: float(value) for name, value in part.items() if isinstance(value, int | float)}
