"""Where the two sides of a comparison come from: a selector over one store, or a file of results each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from netdyno.errors import NetdynoError
from netdyno.results.compare.pairs import are_same_runs, nothing_in_common, pair
from netdyno.results.exchange.merge import merge
from netdyno.results.record import Record
from netdyno.results.result import Result, results_of
from netdyno.results.selectors import fields_of, newest_series, parsed, select_records
from netdyno.results.store import open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What may be compared with what."""

    pairs: tuple[tuple[Result, Result], ...]
    repeated: int = 0  # pairs left out because both are the same runs


def find_sides(a: str, b: str, store: str) -> Sides:
    """The pairs of two sides, each a selector over `store`, a file or a database's URL."""
    if _meaning(a) == _meaning(b):
        raise NetdynoError(f"expected two different sides, received '{a}' twice.")
    first, second = (results_of(records, every_series=True) for records in _records((a, b), store))
    fields = _free_fields((a, b), (first, second))
    found = pair(first, second, fields)
    if not found:
        raise nothing_in_common(first, second, fields)
    pairs = tuple((x, y) for x, y in found if not are_same_runs(x, y))
    if not pairs:
        raise NetdynoError(f"'{a}' and '{b}' name the same runs.", hint="Expected two different sides.")
    return Sides(pairs=pairs, repeated=len(found) - len(pairs))


def read_store(location: str) -> list[Record]:
    """Every run that a store keeps."""
    with open_store(location, create=False) as store:
        return store.records()


def read_export(path: str) -> list[Record]:
    """Every run in an export, checked as an import is."""
    with TemporaryDirectory() as folder, open_store(f"{folder}/export.sqlite") as store:
        merge(store, [Path(path)])
        return store.records()


READERS: Mapping[str, Callable[[str], list[Record]]] = dict.fromkeys((".jsonl", ".json", ".gz"), read_export)
"""How files that are no stores are read, by their ending."""


def _records(sides: Sequence[str], store: str) -> list[list[Record]]:
    """The runs of each side; what both sides select from is read once."""
    read = {place: _read(place) for place in (side if _is_place(side) else store for side in sides)}
    return [newest_series(read[side]) if _is_place(side) else select_records(read[store], side) for side in sides]


def _read(place: str) -> list[Record]:
    records = READERS.get(Path(place).suffix, read_store)(place)
    if not records:
        raise NetdynoError(f"no runs in '{place}'.", hint="Measure something first: netdyno run.")
    return records


def _is_place(side: str) -> bool:
    if "://" in side or Path(side).is_file():
        return True
    if "=" in side:
        return False
    raise NetdynoError(
        f"expected a selector like network=lenet,batch=32 or a file of results, received '{side}'.",
        hint="No such file is here." if Path(side).suffix else "",
    )


def _meaning(side: str) -> object:
    """The same for two ways to write the same."""
    if not _is_place(side):
        return frozenset(parsed(side).items())
    return side if "://" in side else Path(side).resolve()


def _free_fields(sides: Sequence[str], results: Sequence[Sequence[Result]]) -> frozenset[str]:
    """In which fields the sides may differ: those they name, and for files of a machine each, the machine."""
    named = frozenset[str]().union(*(fields_of(side) for side in sides if not _is_place(side)))
    machines = [{result.machine for result in found} for found in results]
    if any(_is_place(side) for side in sides) and all(len(found) == 1 for found in machines):
        return named | {"machine"}
    return named
