"""`netdyno compare A B`: faster, slower or cannot tell."""

from typing import Annotated

import typer

from netdyno.cli.options import JsonOption, store_location
from netdyno.errors import NetdynoError
from netdyno.report.console import data_console, print_json
from netdyno.report.tables import comparisons_table
from netdyno.results.compare import Comparison, fields_of, pair, select
from netdyno.results.compare import compare as compare_results
from netdyno.results.result import Result, results_of
from netdyno.results.store import open_store

Side = Annotated[str, typer.Argument(metavar="FIELD=VALUE,…", help="e.g. execution=eager or batch=64,threads=2")]


def compare(context: typer.Context, a: Side, b: Side, json: JsonOption = False) -> None:
    """Compare every two cells that differ only in the fields named; exit 1 if B is slower anywhere."""
    with open_store(store_location(context), create=False) as store:
        every = results_of(store.records(), every_series="series" in f"{a},{b}")
    named = fields_of(a) | fields_of(b)
    pairs = pair(select(every, a), select(every, b), named)
    if not pairs:
        raise NetdynoError(
            f"no two cells differ only in {', '.join(sorted(named))}: received '{a}' and '{b}'.",
            hint="See what there is: netdyno results",
        )
    compared = [(one, other, compare_results(one, other)) for one, other in pairs]
    if json:
        print_json([_as_json(*item) for item in compared])
    else:
        data_console().print(comparisons_table(compared))
    if any(comparison.verdict == "slower" for _, _, comparison in compared):
        raise typer.Exit(1)


def _as_json(a: Result, b: Result, comparison: Comparison) -> dict[str, object]:
    return {
        "a": {**a.cell.as_dict(), "series": a.series, "images_per_s": a.images_per_s},
        "b": {**b.cell.as_dict(), "series": b.series, "images_per_s": b.images_per_s},
        "ratio": comparison.ratio,
        "low": comparison.low,
        "high": comparison.high,
        "verdict": comparison.verdict,
    }
