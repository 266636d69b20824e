"""Where output goes: data to stdout, messages to stderr; shown as it is, not as markup or a terminal's commands."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from netdyno.text import harmless, one_line, shortened

WIDTH = 100  # of a table that goes to a file or a pipe
MOST_ROWS = 2000  # of a table: nobody reads more, and more would take seconds to lay out
NEW_LINE = "\n"  # inside a text of JSON it is escaped
NARROWEST = 80  # a narrower terminal wraps lines, so that no digit is cut
LONGEST_ERROR = 1500  # characters


class PlainConsole(Console):
    """A console that shows text as it is: styles come from objects, never from words in brackets."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        return super().render(_harmless(renderable), options)

    def status(self, status: RenderableType, **settings: Any) -> Status:
        return PlainStatus(status, console=self, **settings)


class PlainStatus(Status):
    """A status line whose words are no markup."""

    def __init__(self, status: RenderableType, **settings: Any) -> None:
        super().__init__(_harmless(status), **settings)

    def update(self, status: RenderableType | None = None, **settings: Any) -> None:
        super().update(None if status is None else _harmless(status), **settings)


def data_console() -> Console:
    """For tables: as wide as the terminal, or a fixed width where there is none."""
    console = PlainConsole()
    console.width = max(console.width, NARROWEST) if sys.stdout.isatty() else WIDTH
    return console


def talk_console() -> Console:
    """For messages to the user."""
    return PlainConsole(stderr=True, width=None if sys.stderr.isatty() else WIDTH, soft_wrap=True)


def print_json(data: Any) -> None:
    """Strict JSON on stdout."""
    sys.stdout.write(_indented(data) + "\n")


def print_json_list(elements: Iterable[Any]) -> None:
    """The same for a list, of which one element is in memory at a time."""
    before = "["
    for element in elements:
        sys.stdout.write(f"{before}\n  {_indented(element).replace(NEW_LINE, NEW_LINE + '  ')}")
        before = ","
    sys.stdout.write("[]\n" if before == "[" else "\n]\n")


def say(text: str) -> None:
    """One line on stdout, however long."""
    sys.stdout.write(one_line(text) + "\n")


def say_error(text: str) -> None:
    """One line on stderr."""
    red, plain = ("\033[31m", "\033[0m") if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    sys.stderr.write(f"{red}error:{plain} {shortened(one_line(text), LONGEST_ERROR)}\n")


def _harmless(renderable: RenderableType) -> RenderableType:
    """Text and what rich would take for markup; each character stays one, so that styles keep their places."""
    if isinstance(renderable, str):
        return Text(harmless(renderable))
    if isinstance(renderable, Text):
        renderable = renderable.copy()
        renderable.plain = harmless(renderable.plain)
    return renderable


def _indented(data: Any) -> str:
    """As `json.dumps` indents, but indented by msgspec: Python's own writer is slow as soon as it indents."""
    return msgspec.json.format(json.dumps(data, allow_nan=False), indent=2)
