"""What a network drew is kept with its record, exported with it, and left out where nobody looks at it."""

import io
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, inspect, update
from tests.results.fixtures import copied_store
from tests.results.samples import make_training
from tests.results.test_migrate import connected

from netdyno.errors import NetdynoError
from netdyno.results.exchange.files import EXPORTS, export
from netdyno.results.exchange.merge import merge
from netdyno.results.exchange.selection import Selection
from netdyno.results.pictures import LONGEST_SIDE, MOST, Pictures
from netdyno.results.store import open_store
from netdyno.results.store.bulk import pictures_of, runs_by_cell
from netdyno.results.store.rows import to_row
from netdyno.results.store.tables import RUNS

DRAWN = Pictures(height=2, width=3, channels=1, made=bytes(range(12)), images=bytes(12), sees_images=True)
SIZE = MOST * LONGEST_SIDE**2 * 3
LARGEST = Pictures(
    height=LONGEST_SIDE, width=LONGEST_SIDE, channels=3, made=b"\xff" * SIZE, images=bytes(SIZE), sees_images=False
)


@pytest.mark.parametrize("pictures", [DRAWN, LARGEST], ids=["small", "largest"])
def test_pictures_come_back_as_they_were(location: str, pictures: Pictures) -> None:
    with open_store(location) as store:
        store.add(make_training(1, pictures=pictures))
        store.add(make_training(2))
        found = {record.number: record.pictures for record in store.records()}
        assert found == {1: pictures, 2: None}
        assert pictures_of(store, ["training-1", "training-2"]) == {"training-1": pictures}


def test_statistics_are_read_without_pictures(location: str) -> None:
    with open_store(location) as store:
        store.add(make_training(1, pictures=DRAWN))
        assert [record.pictures for record in runs_by_cell(store, whole=False)] == [None]
        assert [record.pictures for record in runs_by_cell(store)] == [DRAWN]


def test_pictures_that_somebody_spoiled_are_shown_to_nobody(location: str) -> None:
    with open_store(location) as store:
        store.add(make_training(1, pictures=DRAWN))
        with store.connection() as connection:
            connection.execute(update(RUNS).values(pictures={"height": 2, "made": "?"}))
            connection.commit()
        assert pictures_of(store, ["training-1"]) == {}
        assert [record.id for record in runs_by_cell(store, whole=False)] == ["training-1"]


@pytest.mark.parametrize("made", [b"", bytes(5), bytes(6 * (MOST + 1))])
def test_a_number_of_bytes_that_makes_no_whole_pictures_is_refused(made: bytes) -> None:
    with pytest.raises(NetdynoError, match=f"expected 1 to {MOST} of 6 bytes .*received {len(made)}"):
        Pictures(height=2, width=3, channels=1, made=made, images=made, sees_images=True)


def test_every_picture_has_an_image_beside_it() -> None:
    with pytest.raises(NetdynoError, match="received 12 and 6 bytes"):
        Pictures(height=2, width=3, channels=1, made=bytes(12), images=bytes(6), sees_images=True)


def test_an_export_brings_pictures_into_another_store(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    with open_store(str(tmp_path / "here.db")) as store:
        store.add(make_training(1, pictures=DRAWN))
        with path.open("wb") as file:
            export(Selection(store=store), EXPORTS["json"], file)
    with open_store(str(tmp_path / "there.db")) as store:
        merge(store, [path])
        assert [record.pictures for record in store.records()] == [DRAWN]


def test_tables_have_no_column_of_pictures(tmp_path: Path) -> None:
    file = io.BytesIO()
    with open_store(str(tmp_path / "here.db")) as store:
        store.add(make_training(1, pictures=DRAWN))
        export(Selection(store=store), EXPORTS["csv"], file)
    assert b"pictures" not in file.getvalue()


def test_records_of_before_pictures_were_kept_have_none(tmp_path: Path) -> None:
    with open_store(copied_store("revision-0005", tmp_path)) as store:
        records = store.records()
    assert records
    assert {record.pictures for record in records} == {None}


def test_a_store_of_the_revision_before_takes_pictures_once_it_is_opened(tmp_path: Path) -> None:
    location = str(tmp_path / "old.db")
    config = Config()
    config.set_main_option("script_location", "netdyno.results.store:migrations")
    old = {name: value for name, value in to_row(make_training(1)).items() if name != "pictures"}
    with connected(location) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0008")
        assert "pictures" not in {column["name"] for column in inspect(connection).get_columns("runs")}
        connection.execute(insert(RUNS).values(old))
    with open_store(location) as store:
        store.add(make_training(2, pictures=DRAWN))
        found = sorted(store.records(), key=lambda record: record.number)
    assert found == [make_training(1), make_training(2, pictures=DRAWN)]
