"""An import is written in one moment: others can work until then, and nothing of a failed one stays."""

import math
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, inspect
from tests.results.exports import everything, exported, fill, full_store
from tests.results.samples import make_cell, make_record

from netdyno.results.exchange.merge import merge
from netdyno.results.store import bulk, open_store
from netdyno.results.store.rows import to_row


@pytest.fixture
def export_path(tmp_path: Path) -> Path:
    path = tmp_path / "export.json"
    with full_store(tmp_path / "source.db") as store:
        path.write_bytes(exported(store))
    return path


def test_an_import_that_fails_while_writing_leaves_nothing(location: str, export_path: Path) -> None:
    def stop(connection: Any, cursor: Any, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO proofs"):
            raise RuntimeError("power cut")

    with open_store(location) as store:
        event.listen(store._engine, "before_cursor_execute", stop)
        with pytest.raises(RuntimeError, match="power cut"):
            merge(store, [export_path])
        assert everything(store) == []
        event.remove(store._engine, "before_cursor_execute", stop)
        assert merge(store, [export_path]).new["records"] == 10


def test_others_can_write_while_an_import_is_read(location: str, export_path: Path) -> None:
    with open_store(location) as store, open_store(location) as other:
        added = iter([make_record(id="meanwhile", machine="elsewhere")])

        def write_once() -> None:
            for record in added:
                other.add(record)

        merge(store, [export_path], notice=write_once)
        assert len(store.records()) == 11


def test_an_import_leaves_no_table_behind(location: str, export_path: Path) -> None:
    with open_store(location) as store:
        merge(store, [export_path])
        with store._engine.connect() as connection:
            inspected = inspect(connection)
            assert not [name for name in inspected.get_table_names() if name.startswith("incoming")]
            assert not inspected.get_temp_table_names()


def test_more_records_than_fit_a_batch_come_through(location: str, tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    records = [
        make_record(make_cell(batch=n), id=f"r{n}", machine="many", loss_last=math.inf) for n in range(1, 1203)
    ]
    with open_store(str(tmp_path / "many.db")) as source:
        with bulk.staging(source) as stage:
            stage.add("records", [to_row(record) for record in records])
            stage.let_in()
        path.write_bytes(exported(source))
        with open_store(location) as target:
            fill(target)
            assert merge(target, [path]).new["records"] == 1202
            assert len(target.records()) == 1212
            assert target.records(machine="many") == source.records()
