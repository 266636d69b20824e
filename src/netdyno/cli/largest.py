"""`--batch max`: how the search for the largest batch is asked for and told."""

from dataclasses import dataclass

from rich.console import Console

from netdyno.errors import NetdynoError
from netdyno.harness.fit import Fit
from netdyno.harness.largest_batch import Manner, largest_batch
from netdyno.harness.run import Campaign
from netdyno.report.terminal.console import talk_console
from netdyno.report.terminal.progress import duration
from netdyno.results.cell import Cell

MAX = "max"


def read_batch(said: str | None) -> int | None:
    """The number that --batch names; None where nothing is said or the largest is wanted."""
    if said is None or said == MAX:
        return None
    try:
        return int(said)
    except ValueError:
        raise NetdynoError(f"--batch: expected a whole number or '{MAX}', received '{said}'.") from None


def find_largest_batch(cell: Cell, campaign: Campaign, *, again: bool) -> int:
    """Search, saying what is tried, and what is proved in the end."""
    talk = talk_console()
    limit = largest_batch(cell, campaign, _Teller(talk), Manner(again=again))
    if limit.fails is None:
        talk.print(f"The largest batch that was tried fits: {limit.fits}.")
    else:
        talk.print(f"Batch {limit.fits} fits, {limit.fails} does not: {limit.reason}", markup=False)
    return limit.fits


@dataclass(slots=True)
class _Teller:
    """One line for each try, with the time that is left."""

    talk: Console
    tries_left: int = 0

    def trying(self, batch: int, tries_left: int) -> None:
        self.tries_left = tries_left

    def polled(self) -> None:
        """A try is short; its line comes when it ends."""

    def tried(self, fit: Fit) -> None:
        left = f", about {duration((self.tries_left - 1) * fit.took_s)} left" if self.tries_left > 1 else ""
        self.talk.print(f"batch {fit.batch}: {fit.outcome} ({duration(fit.took_s)}){left}", markup=False)
