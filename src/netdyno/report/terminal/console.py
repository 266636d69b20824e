"""Where output goes: data to stdout, messages to stderr."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
from rich.console import Console

WIDTH = 100  # of a table that goes to a file or a pipe
MOST_ROWS = 2000  # of a table: nobody reads more, and more would take seconds to lay out
NEW_LINE = "\n"  # inside a text of JSON it is escaped
NARROWEST = 80  # a narrower terminal wraps lines, so that no digit is cut


def data_console() -> Console:
    """For tables: as wide as the terminal, or a fixed width where there is none."""
    console = Console(highlight=False)
    console.width = max(console.width, NARROWEST) if sys.stdout.isatty() else WIDTH
    return console


def talk_console() -> Console:
    """For messages to the user."""
    return Console(stderr=True, width=None if sys.stderr.isatty() else WIDTH, highlight=False, soft_wrap=True)


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


def say_error(text: str) -> None:
    """One line on stderr."""
    line = " ".join(text.split())
    red, plain = ("\033[31m", "\033[0m") if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    sys.stderr.write(f"{red}error:{plain} {line}\n")


def _indented(data: Any) -> str:
    """As `json.dumps` indents, but indented by msgspec: Python's own writer is slow as soon as it indents."""
    return msgspec.json.format(json.dumps(data, allow_nan=False), indent=2)
