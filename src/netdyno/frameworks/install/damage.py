"""Whether an environment is still as installed, by the files and sizes that its distributions list."""

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path


def first_damaged(site_packages: Path, added: Sequence[str] = (), misfits: Sequence[str] = ()) -> str:
    """The first installed file that is missing or has another size; empty if there is none.

    `added` are files that no distribution lists, `misfits` those that never had the listed size.
    """
    for name in added:
        if not (site_packages / name).is_file():
            return name
    never = set(misfits)
    listed = ((name, None if name in never else size) for name, size in _listed(site_packages))
    return next((name for name, size in listed if not _is_as_listed(site_packages / name, size)), "")


def find_misfits(site_packages: Path) -> list[str]:
    """The files of a new environment that do not have the listed size: some wheels are packed like that, and two
    distributions may contain the same script."""
    return [name for name, size in _listed(site_packages) if not _is_as_listed(site_packages / name, size)]


def _listed(site_packages: Path) -> Iterator[tuple[str, int | None]]:
    """The files that distributions list, with their sizes where given; without compiled Python, which may change."""
    for record in sorted(site_packages.glob("*.dist-info/RECORD")):
        with record.open(encoding="utf-8", newline="") as file:
            for name, _, size in (row for row in csv.reader(file) if len(row) == 3):
                if not name.endswith(".pyc") and not os.path.isabs(name):
                    yield name, int(size) if size.isdigit() else None


def _is_as_listed(path: Path, size: int | None) -> bool:
    try:
        found = path.stat().st_size
    except OSError:
        return False
    return size in (None, found)
