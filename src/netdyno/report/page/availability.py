"""What could be measured: every framework on every network of a device, its best figure or the reason for none."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from netdyno.report.charts.palette import look
from netdyno.report.names import is_instrument, short_reason
from netdyno.report.page.bars import best
from netdyno.report.page.rows import Row
from netdyno.results.words import number

MOST_REASONS = 60  # on the page; a store of failures may hold thousands


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One cell of the matrix. `note` is the number of a reason below, 0 for none."""

    text: str
    state: str  # steady, weak, failed or untried
    note: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """One device: a line for each framework, a column for each network and dataset."""

    place: str
    machine: str
    workload: str
    figure: str  # which one is shown, and its unit; empty where there is none
    columns: tuple[str, ...]
    lines: tuple[tuple[str, str, tuple[Slot, ...]], ...]  # name, CSS variable, slots


@dataclass(slots=True)
class Reasons:
    """Reasons in order of appearance, each with one number, up to the most that the page lists."""

    numbers: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    def number(self, reason: str) -> int:
        reason = short_reason(reason)
        if reason not in self.numbers and len(self.numbers) == MOST_REASONS:
            self.left_out += 1
            return 0
        return self.numbers.setdefault(reason, len(self.numbers) + 1)


def availability(rows: Iterable[Row], reasons: Reasons, names: Mapping[str, str]) -> list[Matrix]:
    """A matrix for each machine, device and workload."""
    places: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        if not is_instrument(row.cell.framework):
            places.setdefault((row.place, row.machine, row.cell.device, row.workload), []).append(row)
    return [_matrix(found, reasons, names) for _, found in sorted(places.items(), key=lambda each: each[0])]


def _matrix(rows: Sequence[Row], reasons: Reasons, names: Mapping[str, str]) -> Matrix:
    slots: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        slots.setdefault((row.cell.framework, _case(row, names)), []).append(row)
    frameworks = sorted({row.cell.framework for row in rows}, key=lambda name: (look(name).order, name))
    columns = sorted({_case(row, names) for row in rows})
    lines = [
        (look(name).name, look(name).css, tuple(_slot(slots.get((name, case), ()), reasons) for case in columns))
        for name in frameworks
    ]
    return Matrix(
        place=rows[0].place,
        machine=rows[0].machine,
        workload=rows[0].workload,
        figure=_figure(rows),
        columns=tuple(columns),
        lines=tuple(lines),
    )


def _figure(rows: Sequence[Row]) -> str:
    """Such as "training speed in images/s"."""
    words = next((row.head.wording for row in rows if row.head), None)
    if words is None:
        return ""
    title = words.title[0].lower() + words.title[1:]
    return f"{title} in {words.unit}" if words.unit else title


def _slot(rows: Sequence[Row], reasons: Reasons) -> Slot:
    if not rows:
        return Slot(text="–", state="untried")
    shown = best(rows)
    if shown is None or shown.head is None:
        worst = rows[-1]
        return Slot(text=worst.outcome, state="failed", note=reasons.number(worst.reason or worst.outcome))
    return Slot(text=number(shown.head.value), state="weak" if shown.is_weak else "steady")


def _case(row: Row, names: Mapping[str, str]) -> str:
    return f"{names[row.cell.network]}/{row.cell.dataset}"
