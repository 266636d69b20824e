"""Which numbers the series of an import get: their own, that of the series they belong to, or one that is free.

Two stores of one machine both begin to count at 1. What they measured of the same cell are different series.
"""

from collections.abc import Mapping
from typing import NamedTuple

Owner = tuple[str, str]  # machine and cell key: whose series they are


class Place(NamedTuple):
    """Where a run was met: in which file, and in which series of that file."""

    file: int
    series: int


class Move(NamedTuple):
    """A series of a file that gets another number."""

    machine: str
    cell_key: str
    series: int
    becomes: int


class Numbering:
    """Sees the runs of one file after another; at the end of each it says which of its series move."""

    def __init__(self, taken: Mapping[Owner, set[int]]) -> None:
        self.file = 0  # the one that is read
        self._taken = {owner: set(numbers) for owner, numbers in taken.items()}
        self._new: dict[Owner, set[int]] = {}  # series of this file with a run that is met for the first time
        self._known: dict[Owner, dict[int, int]] = {}  # series of this file: the number that it has already
        self._elsewhere: dict[tuple[Owner, Place], int] = {}  # numbers that are not what an earlier file says

    def see_new(self, owner: Owner, series: int) -> None:
        """A run that nobody has met."""
        self._new.setdefault(owner, set()).add(series)

    def see_kept(self, owner: Owner, series: int, number: int) -> None:
        """A run that the store has, in a series of this number."""
        self._known.setdefault(owner, {}).setdefault(series, number)

    def see_again(self, owner: Owner, series: int, before: Place) -> None:
        """A run that was met before."""
        if before.file != self.file:
            self.see_kept(owner, series, self._elsewhere.get((owner, before), before.series))

    def end_file(self) -> list[Move]:
        """Numbers that were free are taken now."""
        numbers = {owner: self._place(owner, sorted(series)) for owner, series in self._new.items()}
        for owner, known in self._known.items():
            numbers[owner] = {**known, **numbers.get(owner, {})}
        moves = [
            Move(*owner, old, new) for owner, found in numbers.items() for old, new in found.items() if old != new
        ]
        self._elsewhere |= {((m.machine, m.cell_key), Place(self.file, m.series)): m.becomes for m in moves}
        new, self._new, self._known = self._new, {}, {}
        self.file += 1
        return [move for move in moves if move.series in new.get((move.machine, move.cell_key), ())]

    def _place(self, owner: Owner, series: list[int]) -> dict[int, int]:
        known, taken = _one_each(self._known.get(owner, {})), self._taken.setdefault(owner, set())
        before = set(taken)
        taken.update(number for number in series if number not in known)  # nothing may move to where another stays
        places = {}
        for number in series:
            if number in known:
                places[number] = known[number]
            elif number in before:
                places[number] = max(taken) + 1
            else:
                places[number] = number
            taken.add(places[number])
        return places


def _one_each(known: Mapping[int, int]) -> dict[int, int]:
    """Of several series that are one here, the first: the other store has divided it since, so later ones are new."""
    first: dict[int, int] = {}
    for series in sorted(known):
        first.setdefault(known[series], series)
    return {series: number for number, series in first.items()}
