"""`--batch max`: how the search for the largest batch is asked for and told."""

from dataclasses import dataclass
from typing import Protocol

from msgspec import structs
from rich.console import Console

from netdyno.bench.campaign import Campaign
from netdyno.bench.search.largest_batch import SearchOptions, largest_batch
from netdyno.errors import NetdynoError
from netdyno.report.terminal.console import talk_console
from netdyno.report.terminal.progress import duration
from netdyno.results.cell import Cell
from netdyno.runtime.observer import Step
from netdyno.workloads.fit import Fit

MAX = "max"


def read_batch(said: str | None, network: str | None) -> int | None:
    """The number that --batch names; None where there is no such flag or the largest is wanted."""
    if said == MAX and network is None:
        raise NetdynoError("--batch max: expected the flags of one cell, received no --network.")
    if said is None or said == MAX:
        return None
    try:
        return int(said)
    except ValueError:
        raise NetdynoError(f"--batch: expected a whole number or '{MAX}', received '{said}'.") from None


class Asked(Protocol):
    """How the search is to be made."""

    @property
    def again(self) -> bool: ...

    @property
    def dry_run(self) -> bool: ...


def at_largest_batch(cell: Cell, campaign: Campaign, asked: Asked) -> Cell:
    """The cell at the most items that fit. Says what is tried, and what is proved in the end."""
    if asked.dry_run:
        raise NetdynoError(f"--dry-run: expected a batch in numbers, received '{MAX}', which must be tried out.")
    talk = talk_console()
    limit = largest_batch(cell, campaign, _Tries(talk), SearchOptions(again=asked.again))
    if limit.fails is None:
        talk.print(f"The largest batch that was tried fits: {limit.fits}.")
    else:
        talk.print(f"Batch {limit.fits} fits, {limit.fails} does not: {limit.reason}", markup=False)
    return structs.replace(cell, batch=limit.fits)


@dataclass(slots=True)
class _Tries:
    """One line for each try, with the time that is left."""

    talk: Console
    tries_left: int = 0

    def started(self, step: Step) -> None:
        self.tries_left = step.left

    def polled(self) -> None:
        """A try is short; its line comes when it ends."""

    def ended(self, fit: Fit) -> None:
        left = f", about {duration((self.tries_left - 1) * fit.took_s)} left" if self.tries_left > 1 else ""
        self.talk.print(f"batch {fit.batch}: {fit.outcome} ({duration(fit.took_s)}){left}", markup=False)
