"""`netdyno networks`: which networks there are, how large they are, and where they come from."""

from netdyno.cli.command import one_command
from netdyno.cli.options import JsonOption
from netdyno.report.terminal.console import data_console, print_json
from netdyno.report.terminal.tables import new_table
from netdyno.zoo.catalog import Entry, entries


def networks(json: JsonOption = False) -> None:
    """List the networks with their parameters, MACs for one item, and source."""
    if json:
        print_json([_as_json(entry) for entry in entries()])
        return
    table = new_table(
        "network", "dataset", "item", "batch", "parameters", "MACs", "source",
        right=("item", "batch", "parameters", "MACs"),
    )  # fmt: skip
    for entry in entries():
        counts = ("×".join(map(str, entry.items.shape)), str(entry.batch), f"{entry.parameters:,}", f"{entry.macs:,}")
        table.add_row(entry.network, entry.dataset, *counts, entry.source)
    data_console().print(table)


def _as_json(entry: Entry) -> dict[str, object]:
    names = ("network", "dataset", "parameters", "macs", "source", "item", "family", "options")
    return {name: getattr(entry, name) for name in names}


app = one_command(
    networks,
    """
    netdyno networks
    netdyno networks --json
    """,
)
