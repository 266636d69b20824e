"""Reasons too long for a table's cell: each gets a number there and a line below the table."""

import re
from pathlib import Path

from rich.text import Text

from netdyno.frameworks.home import home_path
from netdyno.report.names import is_shortened, short_reason
from netdyno.results.result import Result

LOG = "stderr.log"
PLAIN_ID = re.compile(r"\w[\w.-]*", re.ASCII)  # an imported record may name its run as it likes
SMALL = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """Numbers reasons in order of appearance; the same reason keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._logs: dict[str, Path] = {}

    def mark(self, word: str, reason: str, style: str = "dim") -> Text:
        """The word with the number of its reason."""
        number = self._numbers.setdefault(short_reason(reason), len(self._numbers) + 1)
        return Text(word + str(number).translate(SMALL), style=style)

    def mark_failure(self, result: Result, style: str = "red") -> Text:
        """The outcome of a result without a measurement; a reason that was shortened names its log."""
        reason = result.reason or result.outcome
        if is_shortened(reason) and (log := log_of(result)):
            self._logs.setdefault(short_reason(reason), log)
        return self.mark(result.outcome, reason, style)

    def lines(self) -> Text:
        """The reasons in the order of their numbers, one line each."""
        return Text(
            "\n".join(f"{str(number).translate(SMALL)} {self._line(r)}" for r, number in self._numbers.items())
        )

    def _line(self, reason: str) -> str:
        return f"{reason}; all of it in {self._logs[reason]}" if reason in self._logs else reason


def log_of(result: Result) -> Path | None:
    """What the worker of the last failed run wrote; None where that run was made on another machine."""
    failed = [record.id for record in result.records if record.reason == result.reason]
    if not failed or not PLAIN_ID.fullmatch(failed[-1]):
        return None
    folder = home_path() / "runs" / failed[-1]
    return next((log for log in (folder / "rank0" / LOG, folder / LOG) if log.is_file()), None)
