"""Whatever is in a store, all of it that can be read is shown and exported; the rest is counted and named."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.results.samples import make_cell, make_record

from netdyno.results.exchange.files import EXPORTS, export_file
from netdyno.results.exchange.selection import Selection
from netdyno.results.result import results_of
from netdyno.results.store import open_store
from netdyno.results.store.tables import RUNS

GARBAGE = (
    "x",
    "{",
    "[1, 2",
    "null",
    "NaN",
    '{"a": NaN}',
    "[[1]]",
    "[[true, 1]]",
    '[{"steps": 1}]',
    -1,
    1e400,
    b"\xff",
)
UNSPOILED = ("id",)  # what is named in the warning
KEYS = ("machine", "cell_key", "series", "number")  # unique together


@pytest.mark.parametrize("column", [column.name for column in RUNS.columns if column.name not in UNSPOILED])
def test_a_row_with_anything_in_a_column_hides_no_other(
    tmp_path: Path, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "store.sqlite"
    good = make_record(make_cell(batch=64), id="good", basis={"seconds": 1.0})
    with open_store(str(path)) as store:
        store.add(good)
        for number in range(1, len(GARBAGE) + 1):
            store.add(make_record(number=number))
    with sqlite3.connect(path) as database:
        for number, value in enumerate(GARBAGE, 1):
            made = f"{value!r}{number}" if column in KEYS else value
            database.execute(f"UPDATE runs SET {column} = ? WHERE id = ?", (made, f"here-1-{number}"))
    with open_store(str(path), create=False) as store:
        assert good in store.records()
        assert good.cell in {result.cell for result in results_of(store.records(), every_series=True)}
        assert good.cell.key() in store.finished("here")
        for name, exporter in EXPORTS.items():
            assert export_file(Selection(store=store, every_series=True), exporter, tmp_path / name) >= 1, name
    lines = [json.loads(line) for line in (tmp_path / "json").read_text().splitlines()]
    assert "good" in {line.get("id") for line in lines}
    for record in caplog.records:
        assert "cannot be read" in record.getMessage()
