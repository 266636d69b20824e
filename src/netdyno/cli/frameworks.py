"""netdyno frameworks: which frameworks there are, where they live here, and installing them."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import environment_of, has_nvidia_gpu, locate, read_marker
from netdyno.frameworks.install import install as install_spec
from netdyno.frameworks.spec import Spec, find_spec, specs
from netdyno.report.console import data_console, print_json, say_error

app = typer.Typer(help="List the frameworks and where they are on this machine, or install some.")


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
def install(names: list[str] = typer.Argument(..., metavar="NAME...", help="Frameworks to install.")) -> None:
    """Make environments for the named frameworks; those that are there already are left as they are."""
    failed = 0
    for name in dict.fromkeys(names):
        try:
            with _talking() as talk:
                print(install_spec(find_spec(name), talk=talk))
        except NetdynoError as error:
            failed += 1
            say_error(str(error))
    if failed:
        raise typer.Exit(2)


def describe(spec: Spec) -> dict[str, Any]:
    """One framework as plain data: its spec, and where it lives here."""
    found = locate(spec, {})
    installed = found is not None and found.origin == "installed"
    marker = read_marker(environment_of(spec)) if installed else None
    return {
        **asdict(spec),
        "requirements": list(spec.pins(has_nvidia_gpu())),
        "worker_path": str(spec.worker_path) if spec.worker_path else None,
        "usable": found is not None,
        "origin": found.origin if found else None,
        "interpreter": str(found.path) if found else None,
        "bytes": marker.get("bytes") if marker else None,
        "installed_versions": marker.get("versions") if marker else None,
    }


def framework_table(rows: list[dict[str, Any]]) -> Table:
    """The frameworks for reading; `rows` as describe() makes them."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("framework", "title", "pins", "python", "devices"):
        table.add_column(title, no_wrap=title in ("framework", "pins"), overflow="fold")
    table.add_column("where", overflow="fold", ratio=1)
    table.add_column("MB", justify="right")
    for row in rows:
        size = f"{row['bytes'] / 1e6:.0f}" if row["bytes"] else ""
        pins, devices = "\n".join(row["requirements"]) or "–", " ".join(row["devices"])
        cells = [row["name"], row["title"], pins, row["python"], devices, _where(row), size]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _where(row: dict[str, Any]) -> str:
    if not row["usable"]:
        return "not installed"
    return "current interpreter" if row["origin"] == "current" else str(Path(row["interpreter"]).parent.parent)


@contextmanager
def _talking() -> Iterator[Callable[[str], None]]:
    """On a terminal a line that moves, otherwise plain lines; both on stderr."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_talk()
        return
    with console.status("") as status:
        yield lambda message: status.update(Text(message))


def _plain_talk(every_s: float = 15.0) -> Callable[[str], None]:
    """Prints what is new; a line that differs only in its numbers, at most every few seconds."""
    last: dict[str, Any] = {"step": "", "time": 0.0}

    def talk(message: str) -> None:
        step = message.partition(" (")[0]
        now = time.monotonic()
        if step != last["step"] or now - last["time"] >= every_s:
            last.update(step=step, time=now)
            print(message, file=sys.stderr, flush=True)

    return talk
