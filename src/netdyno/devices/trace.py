"""What the monitor writes down: CSV line by line while it lives, read afterwards whatever is left of it."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1
Series = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace as read. `problem` says what was wrong with the file; what could be read is here nevertheless."""

    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by sensor: 'gpu0'
    missing: Mapping[str, str] = field(default_factory=dict)  # why a reading is not there: 'gpu0.energy_j'
    refresh_s: Mapping[str, float] = field(default_factory=dict)  # by sensor, where it was seen
    names: tuple[str, ...] = ()
    columns: Mapping[str, Series] = field(default_factory=dict, repr=False)
    problem: str = ""

    def series(self, name: str) -> Series:
        """(time.monotonic() in seconds, value) of every tick that has the reading."""
        return self.columns.get(name, ())


def start_lines(about: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first two lines: what is known beforehand, and the names of the columns."""
    return _note({"format": FORMAT, **about}) + ",".join(("at", *names)) + "\n"


def row_line(at: float, names: Sequence[str], values: Mapping[str, float]) -> str:
    """One tick; what was not read in it stays empty."""
    cells = [f"{values[name]:.15g}" if name in values else "" for name in names]
    return ",".join((f"{at:.6f}", *cells)) + "\n"


def missing_line(at: float, missing: Mapping[str, str]) -> str:
    """Readings that ended in the middle, and why."""
    return _note({"at": at, "missing": dict(missing)})


def problem_line(at: float, problem: str) -> str:
    """Why the monitor itself could not go on."""
    return _note({"at": at, "problem": problem})


def leave_problem(path: Path, problem: str) -> None:
    """Write the host's word under a trace whose monitor could not; a line cut by its death is made unreadable."""
    try:
        with path.open("ab+") as file:
            file.seek(max(file.tell() - 1, 0))
            cut = file.read() not in (b"", b"\n")
            file.write(("?\n" if cut else "").encode() + problem_line(time.monotonic(), problem).encode())
    except OSError:
        return  # where nothing can be written, the reader finds no trace and says so


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


def _read_lines(start: Mapping[str, Any], lines: Sequence[str], problem: str) -> Trace:
    names = tuple(lines[0].split(",")[1:])
    columns: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    missing = _texts(start.get("missing"))
    unread = 0
    for line in lines[1:]:
        note, row = _find_note(line), _find_row(line, len(names))
        if note is not None:
            missing |= _texts(note.get("missing"))
            problem = _texts(note).get("problem", problem)
        elif row is None:
            unread += 1
        else:
            _take(row, names, columns)
    return Trace(
        facts=_objects(start.get("facts")),
        missing=missing,
        refresh_s=_numbers(start.get("refresh_s")),
        names=names,
        columns={name: tuple(points) for name, points in columns.items()},
        problem=problem or (f"{unread} lines of the monitor's trace are not readable" if unread else ""),
    )


def _take(
    row: Sequence[float | None], names: Sequence[str], columns: Mapping[str, list[tuple[float, float]]]
) -> None:
    at, *values = row
    for name, value in zip(names, values, strict=True):
        if at is not None and value is not None:
            columns[name].append((at, value))


def _find_row(line: str, width: int) -> list[float | None] | None:
    """The time and the values, None where a cell is empty; None in all if this is no row."""
    cells = line.split(",")
    if len(cells) != width + 1 or not cells[0]:
        return None
    try:
        row = [float(cell) if cell else None for cell in cells]
    except ValueError:
        return None
    return row if all(value is None or math.isfinite(value) for value in row) else None


def _find_note(line: str) -> dict[str, Any] | None:
    if not line.startswith("# "):
        return None
    try:
        note = json.loads(line[2:])
    except ValueError:
        return None
    return note if isinstance(note, dict) else None


def _note(content: Mapping[str, Any]) -> str:
    return f"# {json.dumps(content, ensure_ascii=False)}\n"


def _texts(part: Any) -> dict[str, str]:
    return {name: text for name, text in part.items() if isinstance(text, str)} if isinstance(part, dict) else {}


def _objects(part: Any) -> dict[str, dict[str, Any]]:
    return {name: value for name, value in part.items() if isinstance(value, dict)} if isinstance(part, dict) else {}


def _numbers(part: Any) -> dict[str, float]:
    if not isinstance(part, dict):
        return {}
    return {name: float(value) for name, value in part.items() if isinstance(value, int | float)}
