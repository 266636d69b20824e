"""The page of an earlier store shows what it showed then."""

import json
from pathlib import Path
from typing import Any

from tests.report.pages import data_of
from tests.results.fixtures import FOLDER, copied_store

from netdyno.cli.report import Asked, page_text
from netdyno.report.names import short_name
from netdyno.report.page.compact import compact
from netdyno.results.store import open_store

SAME = ("place", "mfu", "runs", "outcome", "reason", "proved", "crowding", "series", "chosen", "steps", "flags")
FIGURES = {"memory": "MiB", "power": "W", "energy": "mJ/image"}  # and their units, then as now
TEXTS = ("place", "outcome", "reason", "crowding", "chosen")
WHERE = ("network", "framework", "machine", "device", "batch", "precision", "execution", "data")


def rows_of(data: dict[str, Any]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """What is said of each result, by what it is of; matrix products changed their dataset."""
    texts = data["texts"]
    found = {}
    for each in data["rows"]:
        row = dict(zip(data["columns"], each, strict=True))
        where = {name: row[name] if name == "batch" else texts[row[name]] for name in WHERE}
        key = (short_name(where.pop("network")), *where.values())  # the page had paths of users' files once
        said = {name: texts[row[name]] if name in TEXTS else row[name] for name in SAME}
        found[key] = said | {"flags": [texts[flag] for flag in row["flags"]]} | numbers_of(row, data)
    return found


def numbers_of(row: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """Speed and the other figures; earlier pages had a column for each. Intervals are computed in another way now."""
    if "speed" in row:
        return {name: row[name] for name in ("speed", *FIGURES)}
    known = dict(zip([words["name"] for words in data["figures"]], row["figures"], strict=False))
    head = row["figures"][row["headline"]] if row["headline"] is not None else [None] * 3
    others = {name: (known.get(name) or [None])[0] for name in FIGURES}
    found = {"speed": head[0]} | others
    return {name: compact(value) for name, value in found.items()}  # earlier pages had fewer digits


def test_the_page_of_an_earlier_store_has_the_same_rows_and_runs(tmp_path: Path) -> None:
    then = json.loads((FOLDER / "revision-0005" / "page.json").read_text())
    with open_store(copied_store("revision-0005", tmp_path)) as store:
        page = page_text(Asked(store=store), lambda _: None)
    now = data_of(page)
    assert rows_of(now) == rows_of(then["data"])
    assert len(now["runs"]) == len(then["data"]["runs"])
    speeds = [sorted(str(run[2]) for runs in data["runs"] for run in runs) for data in (now, then["data"])]
    assert speeds[0] == speeds[1]
    for words in ("Fastest", "Accuracy", "How far to trust it"):
        assert (words in page) == (words in then["texts"])
