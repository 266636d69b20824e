"""Progress of installations: a line for each framework being installed, and a table of the outcome."""

import threading
import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from netdyno.frameworks.install.several import Installed
from netdyno.frameworks.spec import Spec
from netdyno.report.terminal.progress import duration
from netdyno.report.terminal.tables import new_table

PLAIN_EVERY_S = 15.0


class InstallProgress:
    """Live lines on a terminal; elsewhere plain lines, one for each new step and one every few seconds."""

    def __init__(self, console: Console, count: int) -> None:
        self._console = console
        self._count = count
        self._done = 0
        self._lines: dict[str, str] = {}
        self._printed: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()
        self._live = Live(console=console, refresh_per_second=2, transient=True) if console.is_terminal else None

    def __enter__(self) -> "InstallProgress":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def progressed(self, spec: Spec, message: str) -> None:
        with self._lock:
            self._lines[spec.name] = message
            if self._live:
                self._draw()
            else:
                self._print_if_new(spec.name, message)

    def ended(self, installed: Installed) -> None:
        with self._lock:
            self._done += 1
            self._lines.pop(installed.spec.name, None)
            word = f"failed: {installed.error}" if installed.error else f"ready, {duration(installed.seconds)}"
            self._console.print(f"[{self._done}/{self._count}] {installed.spec.name}: {word}")
            self._draw()

    def _draw(self) -> None:
        if self._live:
            self._live.update(
                Group(*(Text(line, overflow="ellipsis", no_wrap=True) for line in self._lines.values()))
            )

    def _print_if_new(self, name: str, message: str) -> None:
        """Print a line that differs only in the numbers in its brackets at most every few seconds."""
        step, now = message.partition(" (")[0], time.monotonic()
        last_step, last_time = self._printed.get(name, ("", 0.0))
        if step != last_step or now - last_time >= PLAIN_EVERY_S:
            self._printed[name] = (step, now)
            self._console.print(message)


def installed_table(found: Sequence[Installed], total_s: float) -> Table:
    """One line per framework: version, Python, size, time, or the error; then the total."""
    table = new_table("framework", "version", "Python", "MB", "made in", "state", right=("MB", "made in"))
    total_bytes = 0
    for installed in found:
        marker = installed.marker
        total_bytes += marker.bytes if marker else 0
        table.add_row(
            installed.spec.name,
            _version(installed),
            marker.python if marker else "",
            f"{marker.bytes / 1e6:,.0f}" if marker and marker.bytes else "",
            duration(marker.seconds) if marker and marker.seconds else "",
            _state(installed),
        )
    table.add_section()
    table.add_row("total", "", "", f"{total_bytes / 1e6:,.0f}", duration(total_s), "")
    return table


def _version(installed: Installed) -> str:
    """Of the framework itself; an index and pip may spell a name with different dashes."""
    versions = installed.marker.versions if installed.marker else {}
    spellings = {name.replace("_", "-"): version for name, version in versions.items()}
    return str(spellings.get(installed.spec.distribution, ""))


def _state(installed: Installed) -> Text:
    if installed.error:
        return Text(installed.error, style="red")
    return Text("ready" if installed.marker else "runs in the current interpreter", style="green")
