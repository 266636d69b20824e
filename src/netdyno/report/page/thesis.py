"""What the page shows of 2018: the published figures of its cases under today's, and what must be known of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from netdyno.report.charts import Bar
from netdyno.report.page.bars import Grouping, bars, grouping
from netdyno.report.page.metrics import MEMORY, POWER, SPEED, Metric
from netdyno.report.page.rows import Row
from netdyno.report.page.sections import Case, Picture
from netdyno.report.published import thesis

CAPTION = "Under today's, as published in 2018. See what is said above before comparing."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePart:
    """One network on one dataset, then and today."""

    dataset: str
    network: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSection:
    """The caveats once, then case by case; `missing` are cases of the page that were not published."""

    caveats: tuple[str, ...]
    parts: tuple[ReferencePart, ...]
    missing: tuple[str, ...]


def reference_section(cases: Mapping[Case, Sequence[Row]]) -> ReferenceSection:
    """Every case of the page that was published."""
    known = set(thesis.cases())
    parts = [
        ReferencePart(dataset=case[0], network=case[1], pictures=tuple(_pictures(case, rows)))
        for case, rows in cases.items()
        if case in known
    ]
    missing = tuple(f"{network}/{dataset}" for dataset, network in cases if (dataset, network) not in known)
    return ReferenceSection(caveats=thesis.caveats(), parts=tuple(parts), missing=missing)


def _pictures(case: Case, rows: Sequence[Row]) -> Iterator[Picture]:
    found = grouping(rows)
    on_gpu, on_cpu = (_largest(found, on_cpu=on_cpu) for on_cpu in (False, True))
    both = replace(found, groups=(*on_gpu.groups, *on_cpu.groups))
    today = {SPEED.name: _todays(both, SPEED)} | {each.name: _todays(on_gpu, each) for each in (MEMORY, POWER)}
    for chart in thesis.reference_charts(*case, today):
        yield Picture(title=chart.title.partition(",")[0], chart=chart, caption=CAPTION)


def _largest(found: Grouping, *, on_cpu: bool) -> Grouping:
    """The group with most rows that were measured there."""
    here = [group for group in found.groups if (group.rows[0].cell.device == "cpu") is on_cpu]
    ordered = sorted(here, key=lambda group: -sum(row.is_measured for row in group.rows))
    return replace(found, groups=tuple(ordered[:1]))


def _todays(found: Grouping, metric: Metric) -> list[Bar]:
    return [replace(bar, group=f"today: {bar.group or found.shared}") for bar in bars(found, metric)]
