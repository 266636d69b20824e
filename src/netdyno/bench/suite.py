"""What a suite file describes: a matrix of cells and how each is measured."""

import itertools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.bench.cells import NAMED, Fields
from netdyno.bench.settings import Settings
from netdyno.errors import NetdynoError, unknown
from netdyno.results.cell import Cell

SETTING_TYPES: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "runs": (int,),
    "seed": (int,),
    "seconds": (int, float),
    "target": (int, float),
    "deadline": (int, float),
    "published_steps": (bool,),
    "split": (bool,),
}
FLAGS = ("published_steps", "split")
TABLES = ("matrix", "include", "exclude")

Complete = Callable[[Fields], Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cells in the order of the file, each named once."""

    name: str
    cells: tuple[Cell, ...]
    settings: Settings


def read_suite(path: Path, complete: Complete) -> Suite:
    """The suite in a TOML file; `complete` turns fields into a cell or says why it is impossible."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NetdynoError(f"expected a suite file in TOML, received '{path}': {_why(error)}.") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NetdynoError(f"expected a suite in TOML, received '{path}': {error}.") from None
    try:
        return _parse(data, path.stem, complete)
    except NetdynoError as error:
        raise NetdynoError(f"{path.name}: {error}") from None


def expand(matrix: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the listed values; a single value counts as a list of one."""
    lists = [value if isinstance(value, list) else [value] for value in matrix.values()]
    for field, values in zip(matrix, lists, strict=True):
        if not values:
            raise NetdynoError(f"matrix.{field}: expected at least one value, received none.")
    return [dict(zip(matrix, values, strict=True)) for values in itertools.product(*lists)]


def _parse(data: Mapping[str, Any], stem: str, complete: Complete) -> Suite:
    _check_fields(data)
    wanted = expand(data["matrix"]) if data.get("matrix") else []
    wanted += [fields for table in data.get("include", []) for fields in expand(table)]
    cells = [complete(fields) for fields in wanted]
    excluded = [fields for table in data.get("exclude", []) for fields in expand(table)]
    kept = [cell for cell in dict.fromkeys(cells) if not any(_matches(cell, fields) for fields in excluded)]
    if not kept:
        raise NetdynoError("expected at least one cell, received none.", hint="A suite needs a [matrix] table.")
    return Suite(name=data.get("name", stem), cells=tuple(kept), settings=_settings(data))


def _check_fields(data: Mapping[str, Any]) -> None:
    for field, value in data.items():
        if field in SETTING_TYPES:
            if not isinstance(value, SETTING_TYPES[field]) or isinstance(value, bool) != (field in FLAGS):
                wanted = " or ".join(kind.__name__ for kind in SETTING_TYPES[field])
                raise NetdynoError(f"{field}: expected {wanted}, received {value!r}.")
        elif field not in TABLES:
            raise unknown("field of a suite", field, [*SETTING_TYPES, *TABLES])
    for table in _tables(data):
        if not isinstance(table, dict):
            raise NetdynoError(f"expected tables of cell fields, received {table!r}.")
        for field in table:
            if field not in NAMED:
                raise unknown("field of a cell", field, NAMED)


def _tables(data: Mapping[str, Any]) -> Sequence[Any]:
    lists = [data.get(name, []) for name in ("include", "exclude")]
    for name, value in zip(("include", "exclude"), lists, strict=True):
        if not isinstance(value, list):
            raise NetdynoError(f"{name}: expected [[{name}]] tables, received {value!r}.")
    return [data.get("matrix", {}), *lists[0], *lists[1]]


def _matches(cell: Cell, excluded: Fields) -> bool:
    """Does the cell have every one of these values? `lenet/mnist` stands for a network and its dataset."""
    fields = dict(excluded)
    if "/" in str(fields.get("network", "")) and ".py:" not in fields["network"]:
        fields["network"], fields["dataset"] = fields["network"].split("/", 1)
    known = cell.as_dict()
    return all(known[field] == value for field, value in fields.items())


def _settings(data: Mapping[str, Any]) -> Settings:
    names = {"deadline": "deadline_s"}
    return Settings(
        **{names.get(field, field): data[field] for field in SETTING_TYPES if field in data and field != "name"}
    )


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not text"
