"""Where the two sides of a comparison come from: a selector over one store, or a file of results each."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from netdyno.errors import NetdynoError
from netdyno.results.compare.pairs import are_same_runs, nothing_in_common, pair
from netdyno.results.compare.side import Side
from netdyno.results.exchange.merge import merge
from netdyno.results.exchange.selection import Selection
from netdyno.results.result import Result
from netdyno.results.selectors import fields_of, parsed
from netdyno.results.store import Store, open_store

EXPORTS = (".jsonl", ".json", ".gz")  # the endings of files that are no stores


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What may be compared with what."""

    pairs: tuple[tuple[Side, Side], ...]
    repeated: int = 0  # pairs left out because both are the same runs


def find_sides(a: str, b: str, store: str, figure: str = "", *, details: bool = True) -> Sides:
    """The pairs of two sides, each a selector over `store`, a file or a database's URL, by a figure."""
    if _meaning(a) == _meaning(b):
        raise NetdynoError(f"expected two different sides, received '{a}' twice.")
    first, second = (
        [Side.of(result, figure, details=details) for result in _results(side, store)] for side in (a, b)
    )
    fields = _free_fields((a, b), (first, second))
    found = pair(first, second, fields)
    if not found:
        raise nothing_in_common(first, second, fields)
    pairs = tuple((x, y) for x, y in found if not are_same_runs(x, y))
    if not pairs:
        raise NetdynoError(f"'{a}' and '{b}' name the same runs.", hint="Expected two different sides.")
    return Sides(pairs=pairs, repeated=len(found) - len(pairs))


def _results(side: str, store: str) -> Iterator[Result]:
    """The results of a side, the runs of one cell in memory at a time."""
    place, selector = (side, "") if _is_place(side) else (store, side)
    with _opened(place) as opened:
        selection, is_empty = Selection(store=opened, selector=selector), True
        for result in selection.results():
            is_empty = False
            yield result
        if is_empty and not Selection(store=opened).count():
            raise NetdynoError(f"no runs in '{place}'.", hint="Measure something first: netdyno run.")
        if is_empty:
            raise selection.nothing()


@contextmanager
def _opened(place: str) -> Iterator[Store]:
    """A store, or an export, checked as an import is."""
    if Path(place).suffix not in EXPORTS:
        with open_store(place, create=False) as store:
            yield store
        return
    with TemporaryDirectory() as folder, open_store(f"{folder}/export.sqlite") as store:
        merge(store, [Path(place)])
        yield store


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


def _free_fields(sides: Sequence[str], results: Sequence[Sequence[Side]]) -> frozenset[str]:
    """In which fields the sides may differ: those they name, and for files of a machine each, the machine."""
    named = frozenset[str]().union(*(fields_of(side) for side in sides if not _is_place(side)))
    machines = [{result.machine for result in found} for found in results]
    if any(_is_place(side) for side in sides) and all(len(found) == 1 for found in machines):
        return named | {"machine"}
    return named
