"""The page of an earlier store shows what it showed then."""

import json
from pathlib import Path
from typing import Any

from tests.report.pages import data_of
from tests.results.fixtures import FOLDER, copied_store

from netdyno.cli.report import Asked, page_text
from netdyno.results.store import open_store

SAME = (
    "place",
    "speed",
    "low",
    "high",
    "memory",
    "power",
    "energy",
    "mfu",
    "first_step_s",
    "runs",
    "outcome",
    "reason",
)
SAME += ("proved", "crowding", "series", "chosen", "steps", "flags")
TEXTS = ("place", "outcome", "reason", "crowding", "chosen")
WHERE = ("network", "framework", "machine", "device", "batch", "precision", "execution", "data")


def rows_of(data: dict[str, Any]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """What is said of each result, by what it is of; matrix products changed their dataset."""
    texts = data["texts"]
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    found = {}
    for row in rows:
        key = tuple(row[name] if name == "batch" else texts[row[name]] for name in WHERE)
        said = {name: texts[row[name]] if name in TEXTS else row[name] for name in SAME}
        found[key] = said | {"flags": [texts[flag] for flag in row["flags"]]}
    return found


def test_the_page_of_an_earlier_store_has_the_same_rows_and_runs(tmp_path: Path) -> None:
    then = json.loads((FOLDER / "revision-0005" / "page.json").read_text())
    with open_store(copied_store("revision-0005", tmp_path)) as store:
        page = page_text(Asked(store=store), lambda _: None)
    now = data_of(page)
    assert rows_of(now) == rows_of(then["data"])
    assert len(now["runs"]) == len(then["data"]["runs"])
    speeds = [sorted(str(run[2]) for runs in data["runs"] for run in runs) for data in (now, then["data"])]
    assert speeds[0] == speeds[1]
    for words in ("Fastest", "Leanest in memory", "Accuracy", "How far to trust it"):
        assert (words in page) == (words in then["texts"])
