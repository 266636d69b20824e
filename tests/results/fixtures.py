"""Stores and exports of earlier schemas, and what was computed from them then."""

import json
import shutil
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "fixtures"
REVISIONS = ("revision-0004", "revision-0005")
EXPORT = FOLDER / "revision-0005" / "export.json"


def copied_store(revision: str, folder: Path) -> str:
    """The location of a copy: opening a store changes it."""
    return str(shutil.copy(FOLDER / revision / "store.db", folder / f"{revision}.db"))


def expected(revision: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / revision / "expected.json").read_text())
    return read
