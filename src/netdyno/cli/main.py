"""The command line: which commands there are, and how a user's mistake is reported."""

import contextlib
import io
import os
import sys
from typing import Annotated

import typer

from netdyno.cli.command import Lazy, LazyGroup
from netdyno.cli.options import StoreOption
from netdyno.errors import NetdynoError
from netdyno.signals import STOPPED
from netdyno.text import shortened
from netdyno.version import __version__

# What typer raises for a wrong option; the class is private there, so it is found as an ancestor of a public one.
USAGE_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

LONGEST = 300  # characters of what is wrong with an option

COMMANDS = {
    "run": Lazy("netdyno.cli.run", "Measure a suite, or one cell described by options."),
    "train": Lazy("netdyno.cli.train", "Train on real data to a goal: accuracy, seconds, joules, cost."),
    "networks": Lazy("netdyno.cli.networks", "List the networks, or show one of them node by node."),
    "frameworks": Lazy("netdyno.cli.frameworks", "List, install, remove and check frameworks."),
    "datasets": Lazy("netdyno.cli.datasets", "List, get and convert datasets."),
    "verify": Lazy("netdyno.cli.verify", "Prove that frameworks train the same network."),
    "results": Lazy("netdyno.cli.results", "Show, export and import what was measured."),
    "compare": Lazy("netdyno.cli.compare", "Compare two sides: faster, slower, equal or cannot tell."),
    "history": Lazy("netdyno.cli.history", "Show cells over time and what changed at each step."),
    "report": Lazy("netdyno.cli.report", "Write everything on one page, with charts."),
    "doctor": Lazy("netdyno.cli.doctor", "Describe this machine and what disturbs measurements on it."),
}


class Commands(LazyGroup):
    """Every command of netdyno."""

    lazy = COMMANDS


app = typer.Typer(
    name="netdyno",
    cls=Commands,
    help="A dynamometer for neural networks: the same network in any framework, measured with its uncertainty.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    store: StoreOption = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Measure the same network in any framework, with its uncertainty."""
    if version:
        print(f"netdyno {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise typer.BadParameter("Missing command.")
    context.obj = store


def main() -> None:
    """Exit with 0 fine, 1 something was measured badly, 2 the user's mistake, 130 stopped by Ctrl-C."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr is: a file's name may be no text
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except NetdynoError as error:
        _print_error(str(error))
        code = 2
    except OSError as error:
        code = _print_refusal(error)
    except USAGE_ERROR as error:
        code = _print_usage_error(error)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    if code == STOPPED:
        _print_error("stopped. Finished runs are kept; the same command continues.")
    sys.exit(code if isinstance(code, int) else 0)


def _print_refusal(error: OSError) -> int:
    """What the system refused, in one line; a pipe whose reader has enough is no mistake."""
    if error.filename is None:
        with contextlib.suppress(OSError):  # what is left in the buffer goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 0
    what = "the output" if error.filename is None else f"'{os.fsdecode(error.filename)}'"
    _print_error(f"{what} cannot be read or written: {(error.strerror or str(error)).lower()}.")
    return 2


def _print_usage_error(error: Exception) -> int:
    """A wrong option in one line; a call without any command prints the help."""
    message = str(getattr(error, "format_message", lambda: error)())
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message)
    else:
        _print_error(f"{shortened(message.rstrip('.'), LONGEST)}. See: netdyno --help")
    return 2


def _print_error(message: str) -> None:
    """Imported here, because only mistakes need a console."""
    from netdyno.report.terminal.console import say_error

    say_error(message)
