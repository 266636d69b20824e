"""What the page shows of one network on one dataset: its charts, their weaknesses, and what is missing."""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from netdyno.report.charts import Chart, bar_chart, render_svg
from netdyno.report.charts.palette import look
from netdyno.report.figures import LESS
from netdyno.report.names import is_instrument, short_reason
from netdyno.report.page.bars import Grouping, bars, grouping, holes, wordings
from netdyno.report.page.growth import growth_charts, then_and_now_chart
from netdyno.report.page.rows import Row
from netdyno.results.words import interval, number

WIDTH = 410  # pixels of a chart: two stand side by side on a screen, one fills a phone and can be read there
LONGEST_SLUG = 60
MOST_SECTIONS = 16  # with charts; the table has everything

Case = tuple[str, str, str]  # a workload, a dataset and a network


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One chart of the page with the words around it."""

    title: str
    chart: Chart
    caption: str

    @property
    def svg(self) -> str:
        """Drawn in the page's own colours."""
        return render_svg(self.chart, width=WIDTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A figure by itself: a chart of one bar shows nothing."""

    title: str
    text: str
    unit: str
    margin: str  # its interval, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One workload of one network on one dataset."""

    anchor: str
    workload: str
    dataset: str
    network: str
    results: int
    case: Case
    shared: str  # what everything drawn has in common
    left_out: int  # groups that are not drawn
    rows_left_out: int  # of the groups that are
    unproved: tuple[str, ...]  # frameworks that were measured but not proved equal
    only: Row | None  # where there is just one
    tiles: tuple[Tile, ...]  # its figures
    pictures: tuple[Picture, ...]
    lacking: tuple[str, ...]  # figures that no result has, and why
    failed: tuple[str, ...]  # results that are in no chart, since none of their group could be measured


def cases(rows: Iterable[Row]) -> tuple[dict[Case, list[Row]], dict[Case, list[Row]]]:
    """The rows of each case: those with charts, most frameworks first; and those for which there is no room."""
    found: dict[Case, list[Row]] = {}
    for row in rows:
        if not is_instrument(row.cell.framework):
            found.setdefault((row.workload, row.cell.dataset, row.cell.network), []).append(row)
    most = sorted(found, key=lambda case: (-len(found[case]), case))[:MOST_SECTIONS]
    drawn = {case: found[case] for case in sorted(most, key=lambda case: (-_frameworks(found[case]), case))}
    return drawn, {case: found[case] for case in sorted(found.keys() - drawn.keys())}


def _frameworks(rows: Sequence[Row]) -> int:
    return len({row.cell.framework for row in rows})


def section(case: Case, rows: Sequence[Row], names: Mapping[str, str]) -> Section:
    """Everything about one case, drawn."""
    groups = grouping(rows)
    measured = [row for row in rows if row.is_measured]
    workload, dataset, network = case[0], case[1], names[case[2]]
    where = f"{network} on {dataset}"
    only = measured[0] if len(measured) == 1 else None
    return Section(
        anchor=f"on-{slug(*case)}",
        workload=workload,
        dataset=dataset,
        network=network,
        results=len(rows),
        case=case,
        shared=groups.shared,
        left_out=groups.left_out,
        rows_left_out=groups.rows_left_out,
        unproved=tuple(sorted({look(row.cell.framework).name for row in measured if not row.proved})),
        only=only,
        tiles=tuple(_tiles(only)) if only else (),
        pictures=() if only else (*_bar_pictures(groups, rows, where), *_growth_pictures(measured, where)),
        lacking=tuple(line for words in wordings(rows) for line in holes(groups, words)),
        failed=tuple(_failed(groups, only is not None)),
    )


def slug(*words: str) -> str:
    """A name for links and files; other characters are left out, and a checksum keeps two such names distinct."""
    text = "-".join(words)
    plain = re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST_SLUG]
    return plain if plain == text else f"{plain}-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"


def _bar_pictures(groups: Grouping, rows: Sequence[Row], where: str) -> Iterator[Picture]:
    heads = {row.headline for row in rows}
    for words in wordings(rows):
        found = bars(groups, words)
        if sum(bar.value is not None for bar in found) > 1 or (found and words.name in heads):
            is_less = words.better == LESS
            chart = bar_chart(found, title=f"{words.title}, {where}", axis=words.unit, least_first=is_less)
            title = ", ".join(filter(None, (words.title, words.unit)))
            yield Picture(title=title, chart=chart, caption=words.meaning)


def _growth_pictures(rows: Sequence[Row], where: str) -> Iterator[Picture]:
    for title, chart, caption in [*growth_charts(rows, where), *then_and_now_chart(rows, where)]:
        yield Picture(title=title, chart=chart, caption=caption)


def _tiles(row: Row) -> Iterator[Tile]:
    for words in wordings([row]):
        if figure := row.figures.get(words.name):
            margin = interval(figure.value, figure.low, figure.high)
            yield Tile(title=words.title, text=number(figure.value), unit=words.unit, margin=margin)


def _failed(groups: Grouping, is_alone: bool) -> Iterator[str]:
    for group in groups.groups:
        if is_alone or not any(row.is_measured for row in group.rows):
            for row in (row for row in group.rows if not row.is_measured):
                where = ", ".join(filter(None, (look(row.cell.framework).name, row.execution, group.label)))
                yield (
                    f"{where}: {row.outcome}: {short_reason(row.reason)}" if row.reason else f"{where}: {row.outcome}"
                )
