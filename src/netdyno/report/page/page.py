"""The report as one self-contained HTML file.

Names, reasons and other texts of a store are data: the template escapes them, the script sets them as text, and the
page's content security policy forbids everything but its one script.
"""

import base64
import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from netdyno.errors import NetdynoError
from netdyno.report.charts import Chart
from netdyno.report.charts.palette import css_variables, look
from netdyno.report.figures import TRAIN
from netdyno.report.machines import Surveyor
from netdyno.report.names import is_instrument, short_names
from netdyno.report.networks import by_family
from netdyno.report.page.availability import Reasons, availability
from netdyno.report.page.compact import epoch_s
from netdyno.report.page.contests import Contests, setting_of
from netdyno.report.page.data import PageData, Traces
from netdyno.report.page.headline import Answer, answers, times
from netdyno.report.page.learning import trainings
from netdyno.report.page.rows import Row
from netdyno.report.page.sections import Section, cases, section, slug
from netdyno.report.page.thesis import reference_section
from netdyno.report.page.trainings.nodes import tradeoffs
from netdyno.report.page.trainings.pictures import FindPictures
from netdyno.report.page.trust import trust
from netdyno.results.proof import Proof, Proved
from netdyno.results.result import Result
from netdyno.results.words import number
from netdyno.version import __version__

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The input of a page. `results` is read once and may be a stream; `traces` gives the readings over time of runs
    by their ids, where the results do not contain them."""

    results: Iterable[Result]
    traces: Traces | None = None
    proofs: Sequence[Proof] = ()
    trainings: Sequence[Result] = ()  # to a goal, on real data
    pictures: FindPictures | None = None  # that their networks made, where the results do not contain them
    selector: str = ""
    with_reference: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A device, and the answers for it in words."""

    place: str
    machine: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The file's text, and its charts by name."""

    html: str
    charts: Mapping[str, Chart]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Readers:
    """Who looks at each result as it passes."""

    data: PageData
    contests: Contests
    surveyor: Surveyor


def make_page(contents: Contents, tell: Tell = lambda _: None) -> Page:
    """The whole page; `tell` is called with each progress message."""
    with _without_collector():
        return _made(contents, tell)


def _made(contents: Contents, tell: Tell) -> Page:
    proved = Proved(contents.proofs)
    data, contests, surveyor = PageData(proved), Contests(), Surveyor()
    rows = _read(contents, _Readers(data=data, contests=contests, surveyor=surveyor), tell)
    if contents.traces is not None:
        data.add_traces(contents.traces)
    drawn, undrawn = cases(rows)
    names = short_names({row.cell.network for row in rows})
    sections = [section(case, found, names) for case, found in drawn.items()]
    reasons = Reasons()
    script, style = _file("page.js"), _file("page.css")
    html = _template().render(
        policy=_policy(script),
        style=Markup(css_variables() + style),
        script=Markup(script),
        data=Markup(data.to_json(_best_of(contests))),
        version=__version__,
        selector=contents.selector,
        facts=_facts(rows, data.run_count),
        surroundings=surveyor.surroundings(),
        headings=_headings(contests, rows, proved),
        families=by_family(sections, lambda one: one.case[2]),
        undrawn=[f"{names[network]}/{dataset}" for _, dataset, network in undrawn],
        matrices=availability(rows, reasons, names),
        reasons=reasons,
        trust=trust(rows, contents.proofs),
        trainings=by_family(trainings(contents.trainings, contents.pictures), lambda one: one.network),
        tradeoffs=tradeoffs(contents.trainings),
        reference=reference_section(drawn) if contents.with_reference else None,
        left_out=data.left_out(),
    )
    return Page(html=html, charts=_charts(sections))


def _read(contents: Contents, readers: _Readers, tell: Tell) -> list[Row]:
    """Read every result once and keep only its row."""
    rows: list[Row] = []
    for result in contents.results:
        rows.append(readers.data.add(result))
        readers.contests.add(result)
        readers.surveyor.add(result)
        if len(rows) % 1000 == 0:
            tell(f"read {readers.data.run_count:,} runs of {len(rows):,} cells")
    if contents.selector and not rows:
        message = f"no result matches '{contents.selector}'."
        raise NetdynoError(message, hint="See all of them: netdyno results")
    tell(f"{readers.data.run_count:,} runs of {len(rows):,} cells read, drawing")
    return rows


@contextmanager
def _without_collector() -> Iterator[None]:
    """Records have no cycles, and of 100,000 the collector would look through everything kept for a third of the
    time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _best_of(contests: Contests) -> Callable[[Row], float | None]:
    """The best main figure with a row's settings; None for what is not compared."""

    def best(row: Row) -> float | None:
        if row.head is None or is_instrument(row.cell.framework):
            return None
        return contests.best_at(setting_of(row.cell, row.machine), row.head.wording)

    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """The numbers in the first lines; netdyno's own instruments are no frameworks."""

    frameworks: int
    networks: int
    workloads: int
    results: int
    runs: int
    dates: str


def _facts(rows: Sequence[Row], runs: int) -> _Facts:
    compared = [row for row in rows if not is_instrument(row.cell.framework)]
    days = sorted(row.started_at[:10] for row in rows if epoch_s(row.started_at) is not None)
    ends = list(dict.fromkeys((days[0], days[-1]))) if days else []
    return _Facts(
        frameworks=len({row.cell.framework for row in compared}),
        networks=len({row.cell.network for row in compared}),
        workloads=len({row.workload for row in rows}),
        results=len(rows),
        runs=runs,
        dates=" to ".join(ends),
    )


def _headings(contests: Contests, rows: Sequence[Row], proved: Proved) -> list[Heading]:
    names = {(row.machine, row.cell.device): row.place for row in rows}
    several = len(set(names.values())) < len(names)
    return [
        Heading(
            place=names[place],
            machine=place[0] if several else "",
            answers=tuple(answers(contests, place, proved)),
        )
        for place in contests.places()
    ]


def _charts(sections: Iterable[Section]) -> dict[str, Chart]:
    """By network, dataset and figure; other workloads than `train` are named too."""
    found = {}
    for one in sections:
        words = [one.network, one.dataset] if one.workload == TRAIN else [one.network, one.dataset, one.workload]
        for picture in one.pictures:
            found[slug(*words, *picture.title.partition(",")[0].lower().split())] = picture.chart
    return found


def _policy(script: str) -> str:
    """Allow this script and inline styles; nothing may be fetched or sent."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _template() -> Template:
    environment = Environment(
        loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": number, "times": times, "look": look}
    return environment.get_template("page.html.j2")


def _file(name: str) -> str:
    return resources.files("netdyno.report.page").joinpath("assets", name).read_text(encoding="utf-8")
