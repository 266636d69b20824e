"""`netdyno report`: what was measured, as one page to read, send and print."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from netdyno.cli.command import one_command
from netdyno.cli.options import store_location
from netdyno.errors import NetdynoError, unknown
from netdyno.files import reason_of, replacing
from netdyno.report.charts import Chart, write_chart
from netdyno.report.figures import LEARN
from netdyno.report.published.appendix import appendix_charts, appendix_latex
from netdyno.report.terminal.console import talk_console
from netdyno.results.exchange.files import EXPORTS, export_file
from netdyno.results.exchange.selection import Selection
from netdyno.results.result import results_of
from netdyno.results.selectors import fields_of
from netdyno.results.store import Store, open_store
from netdyno.results.store.bulk import pictures_of, runs_by_cell, traces_of

ENDINGS = (".svg", ".png")  # of charts for papers
THEN = "2018"  # the folder of what was published then

FORMATS = {"html": ".html"} | {name: exporter.suffixes[0] for name, exporter in EXPORTS.items()}  # and their endings

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the report is about, and what is wanted beside it."""

    store: Store
    selector: str = ""
    reference: bool = False
    charts: Path | None = None


def report(
    context: typer.Context,
    selector: Annotated[
        str, typer.Argument(metavar="[FIELD=VALUE,…]", help="Only cells with these values, e.g. network=lenet.")
    ] = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write; report.html.")] = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Set the figures published in 2018 beside today's.")
    ] = False,
    charts: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write every chart there, as SVG and PNG for papers.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help=f"html, {', '.join(EXPORTS)}.")] = "html",
) -> None:
    """Write everything that was measured as one HTML file: in words, in charts and as a table to look behind."""
    if form not in FORMATS:
        raise unknown("format", form, FORMATS)
    if form != "html" and (reference or charts):
        raise NetdynoError(f"--reference and --charts: expected with --format html, received {form}.")
    if selector:
        fields_of(selector)  # a mistake in it is reported before anything is read
    path = output or Path(f"report{FORMATS[form]}")
    talk = talk_console()
    with open_store(store_location(context), create=False) as store, talk.status("reading the store") as status:
        asked = Asked(store=store, selector=selector, reference=reference, charts=charts)
        if form == "html":
            _write(path, page_text(asked, status.update))
        else:
            export_file(Selection(store=store, selector=selector), EXPORTS[form], path)
    talk.print(f"Written: {path} ({path.stat().st_size / 1e6:.2f} MB).")


def page_text(asked: Asked, tell: Tell) -> str:
    try:
        from netdyno.report.page.page import Contents, make_page
        from netdyno.report.page.rows import results_by_cell
    except ModuleNotFoundError as error:
        message = f"a page needs {error.name}, which is missing."
        raise NetdynoError(message, hint="Install it: pip install 'netdyno[report]'.") from error
    contents = Contents(
        results=results_by_cell(runs_by_cell(asked.store, without=LEARN, whole=False), asked.selector),
        traces=partial(traces_of, asked.store),
        proofs=asked.store.proofs(),
        trainings=() if asked.selector else results_of(runs_by_cell(asked.store, of=LEARN, whole=False)),
        pictures=partial(pictures_of, asked.store),
        selector=asked.selector,
        with_reference=asked.reference,
    )
    page = make_page(contents, tell)
    if asked.charts is not None:
        _write_charts(asked.charts, page.charts, tell)
        if asked.reference:
            _write_appendix(asked.charts / THEN, tell)
    return page.html


def _write_charts(folder: Path, charts: Mapping[str, Chart], tell: Tell) -> None:
    _make(folder)
    for place, (name, chart) in enumerate(charts.items(), 1):
        tell(f"chart {place} of {len(charts)}")
        for ending in ENDINGS:
            write_chart(chart, folder / f"{name}{ending}")


def _write_appendix(folder: Path, tell: Tell) -> None:
    """The published tables again, as LaTeX and as charts."""
    tell("the figures of 2018")
    _make(folder)
    _write(folder / "appendix.tex", appendix_latex())
    appendix_charts(folder)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NetdynoError(
            f"'{folder}' cannot be made: {reason_of(error)}.", hint="Name another folder with --charts."
        ) from error


def _write(path: Path, text: str) -> None:
    with replacing(path, "Name another file with --output.") as file:
        file.write(text.encode("utf-8", "replace"))


app = one_command(
    report,
    """
    netdyno report
    netdyno report network=lenet --output lenet.html --charts figures
    """,
)
