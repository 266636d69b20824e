"""What is learnt before a cell: the stages of a network that is taught in several."""

import msgspec

from netdyno.bench.cells import Bench
from netdyno.graph.model import Programme
from netdyno.results.cell import Cell
from netdyno.zoo.entry import Entry


def earlier_stages(cell: Cell, entry: Entry, bench: Bench) -> tuple[tuple[Programme, float], ...]:
    """With the epochs of each, an option of every network that has such stages."""
    found = []
    for options in entry.earlier({**entry.options, **dict(cell.options)}):
        stage = msgspec.structs.replace(cell, options=dict(options))
        found.append((bench.programme(stage), float(options["epochs"])))
    return tuple(found)


def labelled(cell: Cell, entry: Entry) -> int | None:
    """How many items have labels, where not all have."""
    return int({**entry.options, **dict(cell.options)}[entry.labelled]) if entry.labelled else None
