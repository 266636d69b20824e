"""Datasets in the terminal: a table of those on this machine, and the progress of downloads and conversions."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from netdyno.report.terminal.console import PlainStatus as Status
from netdyno.report.terminal.progress import PLAIN_EVERY_S, duration
from netdyno.report.terminal.tables import new_table


class Following:
    """A live line on a terminal; elsewhere a plain one every few seconds."""

    def __init__(self, console: Console, what: str) -> None:
        self._console = console
        self._what = what
        self._status = Status(what, console=console, refresh_per_second=2) if console.is_terminal else None
        self._printed_at = time.monotonic()

    def __enter__(self) -> "Following":
        if self._status:
            self._status.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._status:
            self._status.stop()

    def bytes_came(self, name: str, done_bytes: int, of_bytes: int) -> None:
        self._say(f"{self._what}: {name} {done_bytes / 1e6:,.1f} of {of_bytes / 1e6:,.1f} MB")

    def items_written(self, done: int, per_s: float, count: int) -> None:
        left = f" · {duration((count - done) / per_s)} left" if per_s > 0 and done < count else ""
        self._say(f"{self._what}: {done:,} of {count:,} images, {per_s:,.0f} a second{left}")

    def _say(self, line: str) -> None:
        if self._status:
            self._status.update(line)
        elif time.monotonic() - self._printed_at >= PLAIN_EVERY_S:
            self._printed_at = time.monotonic()
            self._console.print(line, markup=False)


def datasets_table(rows: Sequence[Mapping[str, Any]], home: Path) -> Table:
    """One line for each dataset and format; folders are relative to netdyno's home."""
    table = new_table(
        "dataset", "train + test", "shape", "classes", "format", "MB", "where",
        right=("train + test", "shape", "classes", "MB"),
    )  # fmt: skip
    for row in rows:
        counts = " + ".join(f"{count:,}" for count in row["splits"].values())
        facts = [row["name"], counts, "×".join(map(str, row["shape"])), str(row["classes"])]
        places = [_place(place, home) for place in row["here"]] or [["–", "", _absent(row)]]
        for number, place in enumerate(places):
            table.add_row(*(Text(cell) for cell in (*(facts if number == 0 else [""] * 4), *place)))
    return table


def _place(place: Mapping[str, Any], home: Path) -> list[str]:
    """Format, size and folder; the split where there is only one."""
    only = f" ({place['splits'][0]})" if len(place["splits"]) == 1 else ""
    size = "" if place["bytes"] is None else f"{place['bytes'] / 1e6:,.1f}"
    folder = Path(place["folder"])
    linked = f" → {folder.readlink()}" if folder.is_symlink() else ""
    return [place["format"] + only, size, f"{folder.relative_to(home)}{linked}"]


def _absent(row: Mapping[str, Any]) -> str:
    if row["drawn"]:
        return "drawn when needed"
    return "not here" if row["published"] else "not here: needs --from FOLDER"
