"""The page's figures beside those of the thesis of 2018, with the caveats of such a comparison."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from netdyno.report.charts import Bar
from netdyno.report.figures import TRAIN
from netdyno.report.page.bars import Grouping, bars, grouping, wordings
from netdyno.report.page.rows import Row
from netdyno.report.page.sections import Case, Picture
from netdyno.report.published import thesis
from netdyno.report.vocabulary import Wording

CAPTION = "Below today's figures, those published in 2018. Read the notes above before you compare them."
TODAY = {"speed": "throughput", "memory": "memory", "power": "power"}  # the thesis's figure → ours
ON_GPU_ONLY = ("memory", "power")  # the thesis read them from GPUs


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePart:
    """One network on one dataset, then and today."""

    dataset: str
    network: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSection:
    """The caveats once, then each case; `missing` are cases of the page that were not published."""

    caveats: tuple[str, ...]
    parts: tuple[ReferencePart, ...]
    missing: tuple[str, ...]


def reference_section(cases: Mapping[Case, Sequence[Row]]) -> ReferenceSection:
    """Every case of the page that was published."""
    known = set(thesis.cases())
    parts = [
        ReferencePart(dataset=case[1], network=case[2], pictures=tuple(_pictures(case, rows)))
        for case, rows in cases.items()
        if case[0] == TRAIN and case[1:] in known
    ]
    ours = dict.fromkeys(case[1:] for case in cases)
    missing = tuple(f"{network}/{dataset}" for dataset, network in ours if (dataset, network) not in known)
    return ReferenceSection(caveats=thesis.caveats(), parts=tuple(parts), missing=missing)


def _pictures(case: Case, rows: Sequence[Row]) -> Iterator[Picture]:
    found = grouping(rows)
    on_gpu, on_cpu = (_largest(found, on_cpu=on_cpu) for on_cpu in (False, True))
    both = replace(found, groups=(*on_gpu.groups, *on_cpu.groups))
    words = {each.name: each for each in wordings(rows)}
    today = {
        theirs: _todays(on_gpu if theirs in ON_GPU_ONLY else both, words[ours])
        for theirs, ours in TODAY.items()
        if ours in words
    }
    for chart in thesis.reference_charts(case[1], case[2], today):
        yield Picture(title=chart.title.partition(",")[0], chart=chart, caption=CAPTION)


def _largest(found: Grouping, *, on_cpu: bool) -> Grouping:
    """The group with most measured rows on that kind of device."""
    here = [group for group in found.groups if (group.rows[0].cell.device == "cpu") is on_cpu]
    ordered = sorted(here, key=lambda group: -sum(row.is_measured for row in group.rows))
    return replace(found, groups=tuple(ordered[:1]))


def _todays(found: Grouping, words: Wording) -> list[Bar]:
    return [replace(bar, group=f"today: {bar.group or found.shared}") for bar in bars(found, words)]
