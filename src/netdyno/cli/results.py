"""`netdyno results`: what was measured."""

from typing import Annotated

import typer

from netdyno.cli.options import JsonOption, store_location
from netdyno.errors import NetdynoError
from netdyno.report.console import data_console, print_json, talk_console
from netdyno.report.gpu_tables import results_tables
from netdyno.results.compare import select
from netdyno.results.result import results_of, to_json
from netdyno.results.store import open_store
from netdyno.results.utilisation import shares


def results(
    context: typer.Context,
    selector: Annotated[
        str, typer.Argument(metavar="[FIELD=VALUE,…]", help="Only cells with these values, e.g. network=lenet.")
    ] = "",
    every_series: Annotated[bool, typer.Option("--every-series", help="Also those that --again replaced.")] = False,
    json: JsonOption = False,
) -> None:
    """Show each cell's speed with its 95 % interval, or why there is none."""
    with open_store(store_location(context), create=False) as store:
        records = store.records()
    found = results_of(records, every_series=every_series)
    if selector:
        found = select(found, selector)
    if json:
        print_json([to_json(result) | {"utilisation": shares(result, records)} for result in found])
    elif found:
        for part in results_tables(found):
            data_console().print(part)
    elif selector:
        raise NetdynoError(f"no result matches '{selector}'.", hint="See all of them: netdyno results")
    else:
        talk_console().print("Nothing has been measured yet. Start with: netdyno run")
