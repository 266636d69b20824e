"""The command line: which commands there are, and how a user's mistake is told."""

import sys
from typing import Annotated

import typer

import netdyno
from netdyno.cli import (
    compare,
    datasets,
    doctor,
    frameworks,
    history,
    networks,
    report,
    results,
    run,
    train,
    verify,
)
from netdyno.cli.options import StoreOption
from netdyno.errors import NetdynoError
from netdyno.report.terminal.console import say_error

# What typer raises for a wrong option; it keeps the class to itself, so it is found as an ancestor of a public one.
USAGE_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

STOPPED = 130  # what a shell reports for Ctrl-C

app = typer.Typer(
    name="netdyno",
    help="A dynamometer for neural networks: the same network in any framework, measured with its uncertainty.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(run.run)
app.command()(train.train)
app.command()(networks.networks)
app.add_typer(frameworks.app, name="frameworks")
app.add_typer(datasets.app, name="datasets")
app.command()(verify.verify)
app.add_typer(results.app, name="results")
app.command()(compare.compare)
app.command()(history.history)
app.command()(report.report)
app.command()(doctor.doctor)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    store: StoreOption = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.", is_eager=True)] = False,
) -> None:
    """The same network in any framework, measured with its uncertainty."""
    if version:
        print(f"netdyno {netdyno.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise typer.BadParameter("Missing command.")
    context.obj = store


def main() -> None:
    """Exit 0 fine, 1 something was measured badly, 2 the user's mistake, 130 stopped by Ctrl-C."""
    try:
        code = app(standalone_mode=False)
    except NetdynoError as error:
        say_error(str(error))
        code = 2
    except USAGE_ERROR as error:
        code = _tell_usage(error)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    if code == STOPPED:
        say_error("stopped. What was finished is kept; the same command continues.")
    sys.exit(code if isinstance(code, int) else 0)


def _tell_usage(error: Exception) -> int:
    """A wrong option in one line; a call without any command is shown the help."""
    message = str(getattr(error, "format_message", lambda: error)())
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message)
    else:
        say_error(f"{message.rstrip('.')}. See: netdyno --help")
    return 2


if __name__ == "__main__":
    main()
