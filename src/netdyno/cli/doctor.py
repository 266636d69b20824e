"""netdyno doctor: what this machine is, what disturbs measuring on it, which frameworks are usable."""

from dataclasses import asdict
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from netdyno.cli.frameworks import describe
from netdyno.devices.disturbances import Finding, disturbances
from netdyno.devices.machine import Machine, describe_machine, machine_id
from netdyno.frameworks.home import home_path
from netdyno.frameworks.spec import specs
from netdyno.report.console import data_console, print_json

WIDTH = 100
COLOURS = {"good": "green", "weak": "yellow", "bad": "red", "unknown": "dim"}


def doctor(as_json: bool = typer.Option(False, "--json", help="Print JSON, not tables.")) -> None:
    """Describe this machine, what disturbs measurements on it, and the frameworks usable here."""
    machine = describe_machine()
    findings = disturbances(machine, machine.load, home=home_path())
    rows = [describe(spec) for spec in specs().values()]
    if as_json:
        document = {"machine": {"id": machine_id(machine), **machine.as_dict()}}
        print_json(document | {"findings": list(map(asdict, findings)), "frameworks": rows})
        return
    console = data_console()
    for table in (machine_table(machine), finding_table(findings), usable_table(rows)):
        console.print(table, width=min(console.width, WIDTH))
        console.print()


def machine_table(machine: Machine) -> Table:
    """The machine's facts, one a line."""
    table = _table("machine", "")
    for name, value in _facts(machine).items():
        table.add_row(Text(name), Text(value or "not known"))
    return table


def finding_table(findings: list[Finding]) -> Table:
    """What was looked at, how it is, and what to do about it."""
    table = _table("disturbance", "state", "seen", "hint")
    for finding in findings:
        state = Text(finding.state, style=COLOURS[finding.state])
        table.add_row(Text(finding.what), state, Text(finding.seen), Text(finding.hint))
    return table


def usable_table(rows: list[dict[str, Any]]) -> Table:
    """The frameworks that can be measured here now, and how to get the others."""
    table = _table("framework", "usable", "how")
    for row in rows:
        how = "nothing to install" if row["unavailable"] else f"netdyno frameworks install {row['name']}"
        if row["usable"]:
            how = f"{row['origin']}: {row['interpreter']}"
        table.add_row(Text(row["name"]), Text("yes" if row["usable"] else "no"), Text(how))
    return table


def _facts(machine: Machine) -> dict[str, str]:
    gib = 2**30
    memory = f"{machine.memory_bytes / gib:.1f} GiB" if machine.memory_bytes else ""
    if machine.memory_limit_bytes:
        memory += f", limited to {machine.memory_limit_bytes / gib:.1f} GiB"
    physical = machine.physical_cores or "unknown"
    return {
        "id": machine_id(machine),
        "processor": machine.cpu,
        "cores": f"{physical} physical, {machine.logical_cores} logical, {machine.usable_cores:g} usable",
        "memory": memory,
        "virtualisation": ", ".join(filter(None, [machine.hypervisor, machine.container])) or "none seen",
        "system": f"{machine.system}, kernel {machine.kernel}",
        "GPUs": ", ".join(f"{gpu.name} (driver {gpu.driver})" for gpu in machine.gpus) or "none",
    }


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, title in enumerate(titles):
        table.add_column(title, overflow="fold", no_wrap=number == 0)
    return table
