"""How a figure is called and written for people; a figure that is not listed here gets words made from its name.

So a new workload's figures appear in tables, charts and the page without a change to the report.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from netdyno.report.figures import LEARN, LESS, MORE, TRAIN
from netdyno.results.result import Result
from netdyno.results.words import DASH, number
from netdyno.results.words import display_unit as display_unit
from netdyno.results.words import margin as margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the table below says of a figure. `{item}` stands for what the workload counts, such as an image."""

    title: str
    subject: str = ""  # the title in a chart of its own, such as "Speed over threads"; the title if empty
    heading: str = ""  # of a table's column; the unit if empty
    meaning: str = ""
    best: str = ""  # what the best is called
    margin: str = ""  # by how much the best is better than the next
    page_unit: str = ""  # on the page, of a figure per item
    page_scale: float = 1.0
    digits: str = ""  # a format, where four significant digits are not right
    is_contested: bool = True  # whether there is a best one
    is_detail: bool = False  # shown with everything about one result, not in tables and charts
    is_device: bool = False  # about the device: tables of the CPU have no room for it


ENTRIES: dict[tuple[str, str], Entry] = {
    (TRAIN, "throughput"): Entry(
        title="Training speed",
        subject="Speed",
        meaning="Mean of the runs' median speeds; more is better.",
        best="Fastest",
        margin="{} times as fast as the next",
    ),
    ("", "throughput"): Entry(
        title="Speed",
        meaning="Mean of the runs' median speeds; more is better.",
        best="Fastest",
        margin="{} times as fast as the next",
    ),
    ("", "memory"): Entry(
        title="Peak memory",
        meaning="On a GPU the memory of tensors, as the framework counts it; on a CPU that of the whole process."
        " Less is better.",
        best="Least memory",
        margin="the next needs {} times its memory",
        is_device=True,
    ),
    ("", "power"): Entry(
        title="Mean power",
        meaning="Of the device while it worked. A device that draws more may still need less energy for an item.",
        is_contested=False,
        is_device=True,
    ),
    ("", "energy"): Entry(
        title="Energy per {item}",
        meaning="Of the GPU, idle power included; of the processor package on a CPU. Less is better.",
        best="Least energy",
        margin="the next needs {} times its energy",
        page_unit="mJ",
        page_scale=1e3,
        is_device=True,
    ),
    ("", "step"): Entry(title="Step", is_detail=True),
    ("", "first_step"): Entry(title="First step", is_detail=True),
    (LEARN, "accuracy"): Entry(title="Accuracy", heading="accuracy", digits=".4f"),
    (LEARN, "loss"): Entry(title="Loss", heading="loss", digits=".4f", meaning="On the test split; less is better."),
    (LEARN, "train_time"): Entry(title="Training time", heading="train s", digits=".1f"),
    (LEARN, "wall_time"): Entry(title="Wall time", heading="wall s", is_detail=True),
    (LEARN, "steps"): Entry(title="Steps", is_detail=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Everything needed to show one figure. Multiply a stored value by `scale` before showing it with `unit`."""

    workload: str
    name: str
    stored_unit: str
    better: str
    title: str
    subject: str
    unit: str
    heading: str
    scale: float
    meaning: str
    best: str
    margin: str
    digits: str
    place: int  # in every order of figures
    is_detail: bool
    is_device: bool

    @property
    def key(self) -> tuple[str, str, str]:
        """Two figures are the same one if workload, name and unit are."""
        return self.workload, self.name, self.stored_unit

    @property
    def is_contested(self) -> bool:
        return bool(self.best)

    @property
    def more_is_better(self) -> bool:
        return self.better == MORE

    def text(self, value: float | None) -> str:
        """A stored value as it is shown, without its unit."""
        if value is None:
            return DASH
        return format(self.scale * value, self.digits) if self.digits else number(self.scale * value)

    def brief(self, value: float | None) -> str:
        """The same with three digits, for a figure beside the main one."""
        if value is None or self.digits:
            return self.text(value)
        shown = self.scale * value
        return f"{shown:,.0f}" if abs(shown) >= 1000 else f"{shown:.3g}"


@cache
def wording(workload: str, name: str, unit: str, better: str) -> Wording:
    """How a figure is shown in the terminal. Cached: thousands of results share a few."""
    entry = _entry(workload, name)
    place = _place(workload, name)
    shown, scale = display_unit(unit)
    if entry is None:
        entry = Entry(title=name.replace("_", " ").capitalize(), heading=_heading(name, shown))
    title = _title(entry, unit)
    best, margin = _contest(entry, title, better)
    return Wording(
        workload=workload,
        name=name,
        stored_unit=unit,
        better=better,
        title=title,
        subject=entry.subject or title,
        unit=shown,
        heading=entry.heading or shown,
        scale=scale,
        meaning=entry.meaning or _direction(better),
        best=best,
        margin=margin,
        digits=entry.digits,
        place=place,
        is_detail=entry.is_detail,
        is_device=entry.is_device,
    )


def wording_of(result: Result) -> Wording:
    """How the main figure of a measured result is shown in the terminal."""
    name = result.headline
    head = result.figures[name]
    return wording(result.cell.workload, name, head.unit, head.better)


def shown_figures(results: Sequence[Result]) -> list[Wording]:
    """The figures that some of the results have, in their order; details only where they are the main figure."""
    heads = {result.headline for result in results}
    found = {
        name: wording(result.cell.workload, name, estimate.unit, estimate.better)
        for result in results
        for name, estimate in result.figures.items()
    }
    return sorted(
        (each for each in found.values() if not each.is_detail or each.name in heads), key=lambda each: each.place
    )


@cache
def page_wording(workload: str, name: str, unit: str, better: str) -> Wording:
    """How a figure is shown on the page: as in the terminal, but energy per item in mJ."""
    found, entry = wording(workload, name, unit, better), _entry(workload, name)
    _, _, item = unit.partition("/")
    if entry is None or not entry.page_unit or not item:
        return found
    return replace(found, unit=entry.page_unit, heading=f"{entry.page_unit}/{item}", scale=entry.page_scale)


def _entry(workload: str, name: str) -> Entry | None:
    return ENTRIES.get((workload, name)) or ENTRIES.get(("", name))


def _place(workload: str, name: str) -> int:
    own = [known for of, known in ENTRIES if of == workload]
    names = list(dict.fromkeys([*own, *(known for of, known in ENTRIES if of == "")]))
    return names.index(name) if name in names else len(names)


def _title(entry: Entry, unit: str) -> str:
    """Such as "Energy per image", or "Energy" where the unit counts no items."""
    _, _, item = unit.partition("/")
    return entry.title.format(item=item) if item else entry.title.removesuffix(" per {item}")


def _heading(name: str, unit: str) -> str:
    words = name.replace("_", " ")
    return f"{words}, {unit}" if unit else words


def _direction(better: str) -> str:
    return {MORE: "More is better.", LESS: "Less is better."}.get(better, "")


def _contest(entry: Entry, title: str, better: str) -> tuple[str, str]:
    if not entry.is_contested or better not in (MORE, LESS):
        return "", ""
    words = title[0].lower() + title[1:]
    default = ("Highest", "{} times the next") if better == MORE else ("Lowest", "the next has {} times as much")
    return entry.best or f"{default[0]} {words}", entry.margin or default[1]
