"""How items are told apart where a format gives them no names: by their numbers."""

from pathlib import Path

from netdyno.data.item import About
from netdyno.errors import NetdynoError


def number_name(index: int) -> str:
    """Sorted by name, items are sorted by number."""
    return f"{index:08d}"


def check_index(index: int, about: About, path: Path) -> None:
    """Numbers below 0 would count from the end, and read what was not asked for."""
    if not 0 <= index < about.count:
        raise NetdynoError(f"{path}: expected an item from 0 to {about.count - 1}, {index} was asked for.")


def check_range(first: int, last: int, about: About, path: Path) -> None:
    """The same for all from the first to before the last."""
    if not 0 <= first < last <= about.count:
        raise NetdynoError(
            f"{path}: expected items from 0 to {about.count - 1}, those from {first} to {last - 1} were asked for."
        )
