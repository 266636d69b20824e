"""What a suite file describes: a matrix of cells and how each is measured."""

import itertools
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.bench.cells import NAMED, Fields
from netdyno.bench.excludes import Exclude
from netdyno.bench.settings import Settings
from netdyno.errors import NetdynoError, unknown
from netdyno.results.cell import Cell
from netdyno.text import shortened, shown

SETTING_TYPES: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "runs": (int,),
    "seed": (int,),
    "seconds": (int, float),
    "target": (int, float),
    "deadline": (int, float),
    "evaluate_every": (int,),
    "published_steps": (bool,),
    "split": (bool,),
}
FLAGS = ("published_steps", "split")
TABLES = ("matrix", "include", "exclude")
MOST_BYTES = 1_000_000  # of a file
MOST_CELLS, MOST_RUNS, MOST_EXCLUDES = 5_000, 100_000, 200
LONGEST_NAME = 100

Complete = Callable[[Fields], Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cells in the order of the file, each named once; `notes` are for whoever wrote the file."""

    name: str
    cells: tuple[Cell, ...]
    settings: Settings
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        runs = len(self.cells) * self.settings.runs
        if runs > MOST_RUNS:
            raise NetdynoError(f"{runs:,} runs: expected at most {MOST_RUNS:,}.", hint="Split the suite.")


def read_suite(path: Path, complete: Complete) -> Suite:
    """The suite in a TOML file; `complete` turns fields into a cell or says why it is impossible."""
    text = _read(path)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits
        raise NetdynoError(f"expected a suite in TOML, received '{path}': {shortened(str(error))}.") from None
    try:
        return _parse(data, path.stem, complete)
    except NetdynoError as error:
        raise NetdynoError(f"{path.name}: {error.args[0]}", hint=error.hint) from None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, ValueError) as error:
        raise NetdynoError(f"expected a suite file in TOML, received '{path}': {_why(error)}.") from None
    if len(data) > MOST_BYTES:
        raise NetdynoError(f"expected a suite of at most {MOST_BYTES:,} bytes, received '{path}'.")
    return text


def expand(matrix: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the listed values; a single value counts as a list of one."""
    lists = [value if isinstance(value, list) else [value] for value in matrix.values()]
    for field, values in zip(matrix, lists, strict=True):
        if not values:
            raise NetdynoError(f"matrix.{field}: expected at least one value, received none.")
    return [dict(zip(matrix, values, strict=True)) for values in itertools.product(*lists)]


def _parse(data: Mapping[str, Any], stem: str, complete: Complete) -> Suite:
    _check_fields(data)
    tables = [table for table in (data.get("matrix"), *data.get("include", [])) if table]
    if (count := sum(map(combinations, tables))) > MOST_CELLS:
        raise NetdynoError(f"{count:,} cells: expected at most {MOST_CELLS:,}.", hint="Split the suite.")
    excludes = [Exclude.of(table) for table in data.get("exclude", [])]
    cells = dict.fromkeys(complete(fields) for table in tables for fields in expand(table))
    kept = [cell for cell in cells if not any(exclude.matches(cell) for exclude in excludes)]
    if not kept:
        hint = "Every cell is excluded." if cells else "A suite needs a [matrix] table."
        raise NetdynoError("expected at least one cell, received none.", hint=hint)
    notes = [f"exclude leaves nothing out: {e}" for e in excludes if not any(map(e.matches, cells))]
    return Suite(name=data.get("name", stem), cells=tuple(kept), settings=_settings(data), notes=tuple(notes))


def combinations(matrix: Mapping[str, Any]) -> int:
    """How many cells `expand` makes of it."""
    return math.prod(len(value) if isinstance(value, list) else 1 for value in matrix.values())


def _check_fields(data: Mapping[str, Any]) -> None:
    for field, value in data.items():
        if field in SETTING_TYPES:
            if not isinstance(value, SETTING_TYPES[field]) or isinstance(value, bool) != (field in FLAGS):
                wanted = " or ".join(kind.__name__ for kind in SETTING_TYPES[field])
                raise NetdynoError(f"{field}: expected {wanted}, received {shown(value)}.")
        elif field not in TABLES:
            raise unknown("field of a suite", field, [*SETTING_TYPES, *TABLES])
    if len(data.get("name", "")) > LONGEST_NAME:
        raise NetdynoError(f"name: expected at most {LONGEST_NAME} characters, received {shown(data['name'])}.")
    for table in _tables(data):
        if not isinstance(table, dict):
            raise NetdynoError(f"expected tables of cell fields, received {shown(table)}.")
        for field in table:
            if field not in NAMED:
                raise unknown("field of a cell", field, NAMED)


def _tables(data: Mapping[str, Any]) -> Sequence[Any]:
    lists = [data.get(name, []) for name in ("include", "exclude")]
    for name, value in zip(("include", "exclude"), lists, strict=True):
        if not isinstance(value, list):
            raise NetdynoError(f"{name}: expected [[{name}]] tables, received {shown(value)}.")
    if len(lists[1]) > MOST_EXCLUDES:
        raise NetdynoError(f"exclude: expected at most {MOST_EXCLUDES} tables, received {len(lists[1]):,}.")
    return [data.get("matrix", {}), *lists[0], *lists[1]]


def _settings(data: Mapping[str, Any]) -> Settings:
    names = {"deadline": "deadline_s"}
    return Settings(
        **{names.get(field, field): data[field] for field in SETTING_TYPES if field in data and field != "name"}
    )


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not text"
