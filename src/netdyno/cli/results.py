"""`netdyno results`: what was measured; files of it to take away, and to bring in."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from netdyno.cli.command import several_commands
from netdyno.cli.options import JsonOption, store_location
from netdyno.errors import NetdynoError
from netdyno.report.terminal.console import MOST_ROWS, data_console, print_json_list, say, talk_console
from netdyno.report.terminal.console import PlainStatus as Status
from netdyno.report.terminal.trainings.learning import tables_of_every_kind
from netdyno.results.exchange.files import EXPORTS, Exporter, export_file, find_exporter, format_of
from netdyno.results.exchange.files import export as export_to
from netdyno.results.exchange.merge import Merged, merge
from netdyno.results.exchange.selection import Selection
from netdyno.results.result import Result, to_json
from netdyno.results.store import open_store
from netdyno.results.utilisation import StoredPeaks, shares

SHOW = "show"
LONG_S = 2.0  # before anything is said of how it goes
SAY_EVERY_S = {True: 0.5, False: 10.0}  # on a terminal, elsewhere


class ShowUnlessTold(TyperGroup):
    """`netdyno results network=lenet` is `netdyno results show network=lenet`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = [arg for arg in args if not arg.startswith("-")]
        wants_help = "--help" in args
        if not wants_help and (not words or words[0] not in self.commands):
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


app = several_commands(
    cls=ShowUnlessTold, help="Show what was measured (as `results` alone does), export it, or import an export."
)
SelectorArgument = Annotated[
    str, typer.Argument(metavar="[FIELD=VALUE,…]", help="Only cells with these values, e.g. network=lenet.")
]
EverySeriesOption = Annotated[bool, typer.Option("--every-series", help="Also those that --again replaced.")]


@app.command(SHOW)
def results(
    context: typer.Context,
    selector: SelectorArgument = "",
    every_series: EverySeriesOption = False,
    json: JsonOption = False,
) -> None:
    """Show each cell's speed with its 95 % interval, or why there is none."""
    with open_store(store_location(context), create=False) as store:
        selection = Selection(store=store, selector=selector, every_series=every_series)
        if json:
            peaks = StoredPeaks(store)
            with _until_nobody_reads():
                print_json_list(to_json(each) | {"utilisation": shares(each, peaks)} for each in selection.results())
        elif found := list(islice(selection.results(), MOST_ROWS + 1)):
            _show(found, selection)
        elif selector:
            raise selection.nothing()
        else:
            talk_console().print("Nothing has been measured yet. Start with: netdyno run")


@app.command("export")
def export(
    context: typer.Context,
    selector: SelectorArgument = "",
    to: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(EXPORTS)}. If not said: as the file's name ends, else csv."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; .gz at its end compresses it. If none: stdout.")
    ] = None,
    every_series: EverySeriesOption = False,
) -> None:
    """Write results (csv, markdown, latex, parquet) or their records, of every series (json, mlperf)."""
    exporter = find_exporter(to or (format_of(output) if output else None) or "csv")
    if output is None and not exporter.is_text:
        raise NetdynoError(f"{to} is not text: expected a file.", hint="Name one: -o FILE")
    with open_store(store_location(context), create=False) as store, Following("exporting", "records read") as follow:
        selection = Selection(store=store, selector=selector, every_series=every_series, notice=follow.count)
        count = export_file(selection, exporter, output) if output else _to_stdout(selection, exporter)
    counted = f"{exporter.things}: {count:,}"
    where = f" in {output} ({output.stat().st_size:,} bytes)" if output else ""
    talk_console().print(f"{counted}{where}", markup=False)


@app.command("import")
def import_files(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Exports (jsonl, jsonl.gz, json of earlier versions) of other stores."),
    ],
) -> None:
    """Merge exports of other machines into this store: all of them, or nothing if anything is wrong."""
    with open_store(store_location(context)) as store, Following("importing", "parts read") as follow:
        merged = merge(store, files, follow.count)
    say(_told(merged))


@app.command("delete")
def delete(
    context: typer.Context,
    selector: Annotated[
        str, typer.Argument(metavar="FIELD=VALUE,…", help="Which runs, of every series, e.g. network=lenet.")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted; delete nothing.")] = False,
) -> None:
    """Delete runs, also those that cannot be read. There is no way back: export them first."""
    with open_store(store_location(context), create=dry_run is False) as store:
        found = Selection(store=store, selector=selector).ids()
        if not found:
            raise NetdynoError(f"no run matches '{selector}'.", hint="See what there is: netdyno results")
        count = len(found) if dry_run else store.delete(found)
    runs = f"{count:,} run{'s' if count > 1 else ''}"
    say(f"would delete {runs}: {', '.join(found[:3])}{', …' if count > 3 else ''}" if dry_run else f"deleted {runs}")


def _show(found: Sequence[Result], selection: Selection) -> None:
    """As tables, up to a number of results."""
    for part in tables_of_every_kind(found[:MOST_ROWS]):
        data_console().print(part)
    if len(found) > MOST_ROWS:
        talk_console().print(
            f"Shown: the first {MOST_ROWS:,} of {selection.count():,} results. A selector such as network=lenet "
            "shows fewer; --json and `netdyno results export` have all of them."
        )


class Following:
    """Says how far it is, once it takes long: a line that moves on a terminal, plain lines elsewhere."""

    def __init__(self, doing: str, things: str) -> None:
        self._words = doing, things
        self._console = talk_console()
        self._status = Status("", console=self._console, refresh_per_second=2)
        self._seen = 0
        self._say_at = time.monotonic() + LONG_S

    def __enter__(self) -> "Following":
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def count(self) -> None:
        """One more."""
        self._seen += 1
        if self._seen % 100 or time.monotonic() < self._say_at:
            return
        self._say_at = time.monotonic() + SAY_EVERY_S[self._console.is_terminal]
        line = f"{self._words[0]}: {self._seen:,} {self._words[1]}"
        if self._console.is_terminal:
            self._status.update(line)
            self._status.start()
        else:
            self._console.print(line)


def _to_stdout(selection: Selection, exporter: Exporter) -> int:
    with _until_nobody_reads():
        count = export_to(selection, exporter, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return count


@contextmanager
def _until_nobody_reads() -> Iterator[None]:
    """Ends the command where whoever reads its output has enough; what is left in the buffer goes nowhere."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def _told(merged: Merged) -> str:
    """Such as: imported 120 records (3 known already) of machine a1b2."""
    parts = [_some(name, merged) for name in merged.new if name == "records" or merged.new[name] + merged.known[name]]
    names = sorted(merged.machines)
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    of = f" of machine{'s' if len(names) > 1 else ''} {shown}" if names else ""
    moved = f"; {_series(merged.moved)}: the store has others under theirs" if merged.moved else ""
    return f"imported {', '.join(parts)}{of}{moved}"


def _series(count: int) -> str:
    return f"{count:,} series got another number" if count == 1 else f"{count:,} series got other numbers"


def _some(name: str, merged: Merged) -> str:
    new, known = merged.new[name], merged.known[name]
    return f"{new:,} {name.removesuffix('s') if new == 1 else name}" + (
        f" ({known:,} known already)" if known else ""
    )
