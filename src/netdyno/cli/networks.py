"""`netdyno networks`: which networks there are, how large they are, and what each node of one costs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from netdyno.bench.networks import Network, resolve_network
from netdyno.bench.session import usual_bench
from netdyno.cli.command import one_command
from netdyno.cli.options import OUTPUT, WHAT, DatasetOption, JsonOption, SetOption
from netdyno.devices.machine import describe_machine
from netdyno.errors import NetdynoError
from netdyno.graph.cost import NodeCost
from netdyno.report.networks import by_family
from netdyno.report.terminal.console import data_console, print_json
from netdyno.report.terminal.tables import new_table
from netdyno.zoo.catalog import entries
from netdyno.zoo.entry import Entry
from netdyno.zoo.options import Option

NAMES = ("network", "dataset", "parameters", "macs", "source", "item", "family", "options")


def networks(
    network: Annotated[
        str | None, typer.Argument(metavar="[NETWORK]", help="Only this one; may be path/to/file.py:function.")
    ] = None,
    dataset: DatasetOption = None,
    options: SetOption = None,
    batch: Annotated[
        int | None, typer.Option(help="Items per step. Default: the network's own.", rich_help_panel=WHAT)
    ] = None,
    nodes: Annotated[
        bool, typer.Option("--nodes", help="Show the cost of every node of the network.", rich_help_panel=OUTPUT)
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the networks, or show one: parameters, MACs of one item, memory, and the cost of every node."""
    if network is None:
        if nodes:
            raise NetdynoError("--nodes: expected a network, received none.", hint="Such as: netdyno networks lenet")
        _print_list(entries(), json)
        return
    bench = usual_bench(describe_machine())
    found = resolve_network(bench, network, dataset=dataset, batch=batch, options=options or [])
    if json:
        more = {"nodes": [asdict(node) for node in found.nodes]} if nodes else {}
        print_json({**_as_json(found.entry), **asdict(found.totals), "options": dict(found.options), **more})
        return
    data_console().print(_facts(found))
    if nodes:
        data_console().print("", _nodes(found.nodes))


def _print_list(found: Sequence[Entry], json: bool) -> None:
    if json:
        print_json([_as_json(entry) for entry in found])
        return
    right = ("item", "batch", "parameters", "MACs")
    table = new_table("network", "dataset", *right, "unit", "options", right=right)
    table.columns[0].no_wrap = True
    for family, members in by_family(found, lambda entry: entry.network).items():
        table.add_row(Text(family, style="bold"))
        for entry in members:
            table.add_row(*map(Text, _line(entry)))
    data_console().print(table)


def _line(entry: Entry) -> tuple[str, ...]:
    item = "×".join(map(str, entry.items.shape)) or _row_of(entry)
    counts = (item, str(entry.batch), f"{entry.parameters:,}", _short(entry.macs))
    return (entry.network, entry.dataset, *counts, f"{entry.item}s", _listed(entry.options))


def _as_json(entry: Entry) -> dict[str, object]:
    return {name: getattr(entry, name) for name in NAMES}


def _facts(network: Network) -> Table:
    total, mib = network.totals, 2**20
    entry, options = network.entry, dict(network.options)
    unit = _unit(entry, options)
    table = new_table("network", f"{network.name}/{network.entry.dataset}", right=())
    for name, value in {
        "family": entry.family,
        "options": _listed({**entry.options, **options}) or "none",
        "parameters": f"{total.parameters:,} ({total.parameter_bytes / mib:,.1f} MiB in float32)",
        f"MACs of {unit if unit[0].isdigit() else f'one {entry.item}'}": f"{network.macs:,}",
        f"FLOPs of a step, batch {total.batch}": f"{total.step_flops:,}",
        "kept for the backward pass": f"{total.kept_bytes / mib:,.1f} MiB in float32",
        "source": entry.source,
    }.items():
        table.add_row(Text(name), Text(value))
    return table


def _unit(entry: Entry, options: Mapping[str, Option]) -> str:
    """What is counted; with how many of them there are in one row of a batch where there are several."""
    count = entry.units_per_row(options)
    return f"{count:,} {entry.item}s" if count > 1 else f"{entry.item}s"


def _row_of(entry: Entry) -> str:
    """The number of tokens that a row has."""
    count = entry.units_per_row({})
    return str(count) if count > 1 else ""


def _listed(options: Mapping[str, Option]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


def _nodes(costs: Sequence[NodeCost]) -> Table:
    right = ("shape", "MACs", "forward", "backward", "read", "written", "kept")
    table = new_table("node", "op", *right, right=right)
    for cost in costs:
        counts = (cost.macs, cost.forward_flops, cost.backward_flops)
        sizes = (cost.read_bytes, cost.written_bytes, cost.kept_bytes)
        shape = "×".join(map(str, cost.shape)) or "1"
        table.add_row(
            *map(Text, (cost.name, cost.op, shape, *map(_short, counts), *(f"{_short(s)}B" for s in sizes)))
        )
    return table


def _short(value: float) -> str:
    """Three digits and a prefix: 4.09 G."""
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g} "


app = one_command(
    networks,
    """
    netdyno networks
    netdyno networks mine.py:mine --dataset cifar10 --nodes
    """,
)
