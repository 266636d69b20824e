"""netdyno frameworks: which frameworks there are, where they live here; installing, removing, checking them."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from netdyno.bench.check import Checked
from netdyno.bench.check import check as check_framework
from netdyno.cli.options import JsonOption, PythonOption, threads_of
from netdyno.devices.machine import describe_machine
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import environment_of, has_nvidia_gpu, locate, read_given, read_marker
from netdyno.frameworks.home import home
from netdyno.frameworks.install import remove as remove_environment
from netdyno.frameworks.several import GROUPS, install_several, members
from netdyno.frameworks.spec import Spec, find_spec, specs
from netdyno.report.console import data_console, print_json, say_error, talk_console
from netdyno.report.installing import InstallProgress, installed_table
from netdyno.report.tables import new_table

app = typer.Typer(help="List the frameworks and where they are on this machine; install, remove or check some.")
NamesArgument = Annotated[
    list[str], typer.Argument(metavar="NAME...", help=f"Frameworks, or a group: {', '.join(GROUPS)}.")
]


@app.callback(invoke_without_command=True)
def frameworks(
    context: typer.Context, as_json: bool = typer.Option(False, "--json", help="Print JSON, not a table.")
) -> None:
    """List the frameworks and where they are on this machine."""
    if context.invoked_subcommand is not None:
        return
    rows = [describe(spec) for spec in specs().values()]
    if as_json:
        print_json(rows)
        return
    data_console().print(framework_table(rows))


@app.command("install")
def install(
    names: NamesArgument,
    jobs: Annotated[int, typer.Option(help="How many at a time.", min=1)] = 3,
) -> None:
    """Make environments for the named frameworks; those that are there already are left as they are."""
    wanted, unknown_names = _expand(names)
    start = time.monotonic()
    with InstallProgress(talk_console(), len(wanted)) as progress:
        found = install_several(wanted, jobs, progress)
    if found:
        data_console().print(installed_table(found, time.monotonic() - start))
    for error in unknown_names:
        say_error(str(error))
    if unknown_names or any(installed.error for installed in found):
        raise typer.Exit(2)


@app.command("remove")
def remove(names: NamesArgument) -> None:
    """Delete the environments of the named frameworks."""
    wanted, unknown_names = _expand(names)
    talk = talk_console()
    for spec in wanted:
        freed = remove_environment(spec, talk=talk.print)
        print(f"{spec.name}: {f'removed, {freed / 1e6:,.0f} MB' if freed else 'was not installed'}")
    for error in unknown_names:
        say_error(str(error))
    if unknown_names:
        raise typer.Exit(2)


@app.command("check")
def check(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME...]", help="Every usable one if none.")] = None,
    python: PythonOption = None,
    json: JsonOption = False,
) -> None:
    """Import each framework and train a step with it, in a process of its own; exit 1 if one does not work."""
    given = read_given(python or ())
    wanted, errors = _expand(names) if names else ([spec for spec in specs().values() if locate(spec, given)], [])
    for error in errors:
        raise error
    talk, found = talk_console(), []
    for spec in wanted:
        with talk.status(f"{spec.name}: importing it and training a step"):
            found.append(check_framework(spec, given, home(), threads_of(describe_machine())))
    if json:
        print_json([asdict(checked) for checked in found])
    else:
        data_console().print(_checked_table(found))
    if any(checked.problem for checked in found):
        raise typer.Exit(1)


def describe(spec: Spec) -> dict[str, Any]:
    """One framework as plain data: its spec, and where it lives here."""
    found = locate(spec, {})
    installed = found is not None and found.origin == "installed"
    marker = read_marker(environment_of(spec)) if installed else None
    return {
        **asdict(spec),
        "requirements": list(spec.pins(has_nvidia_gpu())),
        "worker_path": str(spec.worker_path) if spec.worker_path else None,
        "shared_objects": sorted(spec.shared_objects),
        "usable": found is not None,
        "origin": found.origin if found else None,
        "interpreter": str(found.path) if found else None,
        "bytes": marker.get("bytes") if marker else None,
        "installed_versions": marker.get("versions") if marker else None,
    }


def framework_table(rows: list[dict[str, Any]]) -> Table:
    """The frameworks for reading; `rows` as describe() makes them."""
    table = new_table("framework", "era", "pins", "Python", "devices", "MB", "here?", right=("MB",))
    for row in rows:
        size = f"{row['bytes'] / 1e6:,.0f}" if row["bytes"] else ""
        pins = row["requirements"][0] if row["requirements"] else "–"
        cells = [row["name"], row["era"], pins, row["python"], " ".join(row["devices"]), size, _where(row)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _where(row: dict[str, Any]) -> str:
    if not row["usable"]:
        return "not installable" if row["unavailable"] else "no"
    return "current interpreter" if row["origin"] == "current" else "installed"


def _expand(names: Sequence[str]) -> tuple[list[Spec], list[NetdynoError]]:
    """The specs of names and groups, each once, and the errors of names that are neither."""
    found: dict[str, Spec] = {}
    errors = []
    for name in names:
        try:
            chosen = members(name, list(specs().values())) if name in GROUPS else [find_spec(name)]
        except NetdynoError as error:
            errors.append(error)
            continue
        found.update((spec.name, spec) for spec in chosen)
    return list(found.values()), errors


def _checked_table(found: Sequence[Checked]) -> Table:
    table = new_table("framework", "works?", "seconds", "versions", "problem", right=("seconds",))
    for checked in found:
        works = Text("NO", style="red") if checked.problem else Text("yes", style="green")
        table.add_row(checked.framework, works, f"{checked.seconds:.1f}", checked.versions, checked.problem[:300])
    return table
