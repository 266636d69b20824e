"""What could be measured: every framework on every network of a device, its best speed or the reason for the hole."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from netdyno.report.charts.palette import look
from netdyno.report.page.contests import is_instrument
from netdyno.report.page.rows import Row
from netdyno.results.words import number

MOST_REASONS = 60  # on the page; a store of failures may hold thousands


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place of the matrix. `note` is the number of a reason below, 0 for none."""

    text: str
    state: str  # steady, weak, failed or untried
    note: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """One device: a line for each framework, a column for each network and dataset."""

    place: str
    machine: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, str, tuple[Slot, ...]], ...]  # name, CSS variable, slots


@dataclass(slots=True)
class Reasons:
    """Numbered as they come; the same reason keeps its number, and beyond the last there is none."""

    numbers: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    def number(self, reason: str) -> int:
        reason = " ".join(reason.split())
        if reason not in self.numbers and len(self.numbers) == MOST_REASONS:
            self.left_out += 1
            return 0
        return self.numbers.setdefault(reason, len(self.numbers) + 1)


def availability(rows: Iterable[Row], reasons: Reasons) -> list[Matrix]:
    """A matrix for each machine and device."""
    places: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if not is_instrument(row.cell.framework):
            places.setdefault((row.place, row.machine, row.cell.device), []).append(row)
    return [_matrix(place, machine, found, reasons) for (place, machine, _), found in sorted(places.items())]


def _matrix(place: str, machine: str, rows: Sequence[Row], reasons: Reasons) -> Matrix:
    slots: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        slots.setdefault((row.cell.framework, _case(row)), []).append(row)
    frameworks = sorted({row.cell.framework for row in rows}, key=lambda name: (look(name).order, name))
    columns = sorted({_case(row) for row in rows})
    lines = [
        (look(name).name, look(name).css, tuple(_slot(slots.get((name, case), ()), reasons) for case in columns))
        for name in frameworks
    ]
    return Matrix(place=place, machine=machine, columns=tuple(columns), lines=tuple(lines))


def _slot(rows: Sequence[Row], reasons: Reasons) -> Slot:
    if not rows:
        return Slot(text="–", state="untried")
    measured = [row for row in rows if row.is_measured]
    if not measured:
        worst = rows[-1]
        return Slot(text=worst.outcome, state="failed", note=reasons.number(worst.reason or worst.outcome))
    best = max(measured, key=lambda row: row.figures["speed"].value or 0.0)
    return Slot(text=number(best.figures["speed"].value), state="weak" if best.is_weak else "steady")


def _case(row: Row) -> str:
    return f"{row.cell.network}/{row.cell.dataset}"
