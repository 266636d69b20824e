"""Options that several commands share, and what they stand for."""

import os
from typing import Annotated

import typer

from netdyno.devices.machine import Machine
from netdyno.errors import NetdynoError
from netdyno.frameworks.home import home

StoreOption = Annotated[
    str | None,
    typer.Option("--store", help="Where results are kept: a SQLite file or a PostgreSQL URL. [NETDYNO_STORE]"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON on stdout.")]
PythonOption = Annotated[
    list[str] | None,
    typer.Option("--python", metavar="NAME=PATH", help="Use this interpreter for a framework. May be repeated."),
]


def store_location(context: typer.Context) -> str:
    """--store, else NETDYNO_STORE, else a file in netdyno's home."""
    given: str | None = context.obj or os.environ.get("NETDYNO_STORE")
    return given or str(home() / "results.sqlite")


def device_of(gpus: int | None, cpu: bool, gpus_here: int) -> str:
    """The device that --cpu or --gpus N names."""
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


def threads_of(machine: Machine) -> int:
    """As many as there are cores to compute on; a quota may leave a fraction of one."""
    return max(1, int(machine.usable_cores))
