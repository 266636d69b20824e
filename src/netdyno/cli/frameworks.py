"""netdyno frameworks: list the frameworks, install, remove and check them."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from netdyno.bench.check import Checked
from netdyno.bench.check import check as check_framework
from netdyno.cli.command import several_commands
from netdyno.cli.options import JsonOption, PythonOption, threads_of
from netdyno.devices.machine import Json, describe_machine
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import (
    Interpreter,
    Marker,
    environment_of,
    has_nvidia_gpu,
    locate,
    read_given,
    read_marker,
)
from netdyno.frameworks.home import home
from netdyno.frameworks.install.framework import remove as remove_environment
from netdyno.frameworks.install.several import GROUPS, install_several, members
from netdyno.frameworks.spec import Spec, find_spec, specs
from netdyno.report.terminal.console import data_console, print_json, say, say_error, talk_console
from netdyno.report.terminal.installing import InstallProgress, installed_table
from netdyno.report.terminal.tables import new_table

app = several_commands(help="List the frameworks and where they are on this machine; install, remove or check some.")
NamesArgument = Annotated[
    list[str], typer.Argument(metavar="NAME...", help=f"Frameworks, or a group: {', '.join(GROUPS)}.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """A framework, and where it is on this machine; `marker` is that of netdyno's environment for it."""

    spec: Spec
    interpreter: Interpreter | None
    marker: Marker | None

    @property
    def pins(self) -> tuple[str, ...]:
        return self.spec.pins(has_nvidia_gpu())

    def as_json(self) -> dict[str, Json]:
        """Plain data: the spec's fields, then those of this machine."""
        return {
            **asdict(self.spec),
            "requirements": list(self.pins),
            "program": str(self.spec.program) if self.spec.program else None,
            "worker_path": str(self.spec.worker_path) if self.spec.worker_path else None,
            "shared_objects": [*sorted(self.spec.shared_objects)],
            "usable": self.interpreter is not None,
            "origin": self.interpreter.origin if self.interpreter else None,
            "interpreter": str(self.interpreter.path) if self.interpreter else None,
            "bytes": self.marker.bytes if self.marker else None,
            "installed_versions": {**self.marker.versions} if self.marker else None,
        }


def availability(spec: Spec) -> Availability:
    """Look for a framework on this machine."""
    found = locate(spec, {})
    installed = found is not None and found.origin == "installed"
    return Availability(spec=spec, interpreter=found, marker=read_marker(environment_of(spec)) if installed else None)


@app.callback(
    invoke_without_command=True,
    epilog="Examples:\n\n  netdyno frameworks --json\n\n  netdyno frameworks install today",
)
def frameworks(context: typer.Context, json: JsonOption = False) -> None:
    """List the frameworks and where they are on this machine; install, remove or check them."""
    if context.invoked_subcommand is not None:
        return
    found = [availability(spec) for spec in specs().values()]
    if json:
        print_json([framework.as_json() for framework in found])
    else:
        data_console().print(framework_table(found))


@app.command(
    "install",
    epilog="Examples:\n\n  netdyno frameworks install today\n\n  netdyno frameworks install all --jobs 2",
)
def install(
    names: NamesArgument,
    jobs: Annotated[int, typer.Option(help="Install this many frameworks at a time.", min=1, max=64)] = 3,
) -> None:
    """Install frameworks, each into an environment of its own; those that are intact are left as they are."""
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


@app.command("remove", epilog="Examples:\n\n  netdyno frameworks remove 2018\n\n  netdyno frameworks remove all")
def remove(names: NamesArgument) -> None:
    """Delete the environments of frameworks."""
    wanted, unknown_names = _expand(names)
    talk = talk_console()
    for spec in wanted:
        freed = remove_environment(spec, report=talk.print)
        say(f"{spec.name}: {f'removed, {freed / 1e6:,.0f} MB' if freed else 'was not installed'}")
    for error in unknown_names:
        say_error(str(error))
    if unknown_names:
        raise typer.Exit(2)


@app.command(
    "check",
    epilog="Examples:\n\n  netdyno frameworks check\n\n  netdyno frameworks check reference --json",
)
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Frameworks, by default every usable one.")
    ] = None,
    python: PythonOption = None,
    json: JsonOption = False,
) -> None:
    """Import each framework and train one step with it, in a process of its own; exit 1 if one does not work."""
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


def framework_table(found: Sequence[Availability]) -> Table:
    """The frameworks for reading."""
    table = new_table("framework", "era", "pins", "Python", "devices", "MB", "here?", right=("MB",))
    for one in found:
        size = f"{one.marker.bytes / 1e6:,.0f}" if one.marker and one.marker.bytes else ""
        pin = one.pins[0] if one.pins else "–"
        cells = [one.spec.name, one.spec.era, pin, one.spec.python, " ".join(one.spec.devices), size, _where(one)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _where(found: Availability) -> str:
    if found.interpreter is None:
        return "not installable" if found.spec.unavailable else "no"
    return "current interpreter" if found.interpreter.origin == "current" else "installed"


def _expand(names: Sequence[str]) -> tuple[list[Spec], list[NetdynoError]]:
    """The specs of names and groups, each once, and the errors for names that are neither."""
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
