"""Options that several commands share, grouped for their help, and what they stand for."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from netdyno.errors import NetdynoError
from netdyno.frameworks import home

if TYPE_CHECKING:
    from netdyno.devices.machine import Machine

WHAT, HOW, WHERE = "What to measure", "How to compute it", "Where to run it"
MEASURING, OUTPUT = "How to measure it", "Output"
MOST_EXPENSIVE = 1_000_000_000  # of any currency, for an hour

StoreOption = Annotated[
    str | None,
    typer.Option("--store", help="SQLite file or PostgreSQL URL that keeps the results. [NETDYNO_STORE]"),
]
NetworkOption = Annotated[
    str | None, typer.Option(help="Network of the zoo, or path/to/file.py:function.", rich_help_panel=WHAT)
]
DatasetOption = Annotated[
    str | None, typer.Option(help="Dataset of the network. Default: the first it has.", rich_help_panel=WHAT)
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Option of the network. Repeatable.", rich_help_panel=WHAT),
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(help="float32 (strict, default), tf32, bfloat16 or float16.", rich_help_panel=HOW),
]
ThreadsOption = Annotated[
    int | None, typer.Option(help="CPU threads. Default: every usable core.", rich_help_panel=WHERE)
]
CpuOption = Annotated[bool, typer.Option("--cpu", help="Run on the CPU (default).", rich_help_panel=WHERE)]
GpusOption = Annotated[int | None, typer.Option(help="Number of GPUs to run on.", rich_help_panel=WHERE)]
PythonOption = Annotated[
    list[str] | None,
    typer.Option(
        "--python",
        metavar="NAME=PATH",
        help="Interpreter to use for a framework. Repeatable.",
        rich_help_panel=WHERE,
    ),
]
FrameworksOption = Annotated[
    list[str] | None, typer.Option(help="Framework. Repeatable. Default: every usable one.", rich_help_panel=HOW)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.", rich_help_panel=OUTPUT)]


def store_location(context: typer.Context) -> str:
    """Return --store, else NETDYNO_STORE, else a file in netdyno's home."""
    return home.store_location(context.obj)


def device_of(gpus: int | None, cpu: bool, gpus_here: int) -> str:
    """Return the device that --cpu or --gpus N names."""
    if gpus is None or (gpus == 0 and not cpu):
        return "cpu"
    if cpu:
        raise NetdynoError("expected --cpu or --gpus, received both.")
    if gpus < 0 or gpus > gpus_here:
        here = "no GPU" if not gpus_here else f"{gpus_here} GPU{'s' if gpus_here > 1 else ''}"
        raise NetdynoError(f"--gpus: expected at most what this machine has ({here}), received {gpus}.")
    if gpus > 1:
        raise NetdynoError(
            f"--gpus: expected 1, received {gpus}.", hint="A run on several GPUs is not supported yet."
        )
    return "cuda"


def checked_price(price_per_hour: float | None) -> float | None:
    """A price that costs can be computed of."""
    if price_per_hour is not None and not 0 <= price_per_hour <= MOST_EXPENSIVE:  # nor is NaN
        raise NetdynoError(
            f"--price-per-hour: expected a number from 0 to {MOST_EXPENSIVE:,}, received {price_per_hour}."
        )
    return price_per_hour


def threads_of(machine: "Machine") -> int:
    """Return the number of cores to compute on; a quota may leave a fraction of one."""
    return max(1, int(machine.usable_cores))


def given_only(**values: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in values.items() if value is not None}
