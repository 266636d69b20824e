"""Where output goes: data to stdout, messages to stderr."""

import json
import os
import sys
from typing import Any

from rich.console import Console

WIDTH = 100  # of a table that goes to a file or a pipe
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
    sys.stdout.write(json.dumps(data, indent=2, allow_nan=False) + "\n")


def say_error(text: str) -> None:
    """One line on stderr."""
    line = " ".join(text.split())
    red, plain = ("\033[31m", "\033[0m") if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    sys.stderr.write(f"{red}error:{plain} {line}\n")
