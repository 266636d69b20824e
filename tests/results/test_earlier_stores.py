"""Stores and exports of earlier schemas open, and every figure is what it was; intervals are computed on reading."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from tests.results.fixtures import EXPORT, REVISIONS, copied_store, expected

from netdyno.results.cell import Cell
from netdyno.results.exchange.merge import merge
from netdyno.results.record import Record
from netdyno.results.result import Result, results_of
from netdyno.results.store import Store, open_store, version1
from netdyno.results.store.location import read_location
from netdyno.results.store.tables import LIMITS
from netdyno.results.utilisation import measured_peak, shares

FIGURES = {
    "accuracy": "accuracy",
    "train_s": "train_time",
    "wall_s": "wall_time",
    "steps": "steps",
    "energy_j": "energy",
}


def new_cell(old: dict[str, Any], **more: str) -> Cell:
    return Cell(**{**version1.cell_of(old), **more})


def renamed(old: dict[str, Any]) -> dict[str, Any]:
    return {
        name.replace("per_image", "per_item").replace("images_per_s", "items_per_s"): v for name, v in old.items()
    }


def find(results: list[Result], cell: Cell, machine: str, series: int | None = None) -> Result:
    (found,) = [r for r in results if (r.cell, r.machine) == (cell, machine) and series in (None, r.series)]
    return found


def check_result(result: Result, old: dict[str, Any], records: list[Record]) -> None:
    """Everything that was computed of a result, digit by digit."""
    head = result.head
    assert (head and head.value) == old["images_per_s"]
    for name in ("series", "runs", "outcome", "verdict", "reason", "step_s", "host_peak_bytes", "device_peak_bytes"):
        assert getattr(result, name) == old[name], name
    first = result.figures.get("first_step")
    assert (first and first.value) == old["first_step_s"]
    assert result.readings == renamed(old["readings"])
    assert renamed(old["absent"]).items() <= result.absent.items()
    assert [record.id for record in result.records] == old["records"]
    assert shares(result, partial(measured_peak, records)) == old["utilisation"]


def check_figures(result: Result, old: dict[str, Any]) -> None:
    """Figures that were readings or fields before are the same numbers."""
    on_gpu = result.cell.device != "cpu"
    sources = {
        "memory": old["device_peak_bytes" if on_gpu else "host_peak_bytes"],
        "power": old["readings"].get("mean_w"),
        "energy": old["readings"].get("j_per_image" if on_gpu else "package_j_per_image"),
    }
    for name, value in sources.items():
        figure = result.figures.get(name)
        assert (figure and figure.value) == value, name


def check_learning(result: Result, old: dict[str, Any]) -> None:
    for old_name, name in FIGURES.items():
        figure, spread = result.figures.get(name), old[old_name]
        if spread is None:
            assert figure is None
        else:
            assert figure is not None
            assert figure.value == spread["mean"]
    assert (len(result.records), result.reached) == (old["seeds"], old["reached"])
    assert [record.id for record in result.records] == old["ids"]
    for record, course in zip(result.records, old["courses"], strict=True):
        assert (record.number, record.reason) == (course["seed"], course["reason"])
        assert record.outcome == ("measured" if course["outcome"] == "trained" else course["outcome"])
        assert repr([msgspec.to_builtins(point) for point in record.curve]) == repr(course["curve"])
        assert record.readings == renamed(course["readings"])


def check_store(store: Store, then: dict[str, Any]) -> None:
    records = store.records()
    everything = results_of(records, every_series=True)
    newest = results_of(records)
    trained = [result for result in newest if result.cell.workload == "train"]
    assert len(trained) == len(then["results"])
    for old in then["results"]:
        check_result(find(trained, new_cell(old), old["machine"]), old, records)
        check_figures(find(trained, new_cell(old), old["machine"]), old)
    for old in then["every_series"]:
        check_result(find(everything, new_cell(old), old["machine"], old["series"]), old, records)
    learned = [result for result in newest if result.cell.workload == "learn"]
    assert len(learned) == len(then["courses"])
    for old in then["courses"]:
        cell = new_cell(old, workload="learn", goal=old["goal"], source=old["source"])
        check_learning(find(learned, cell, old["machine"]), old)
    assert sorted(r.id for r in records if r.cell.workload == "learn") == then["course_ids"]
    proofs = [{name: getattr(proof, name) for name in then["proofs"][0]} for proof in store.proofs()]
    assert repr(proofs) == repr(then["proofs"])


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_earlier_store_opens_with_every_figure_as_it_was(tmp_path: Path, revision: str) -> None:
    with open_store(copied_store(revision, tmp_path)) as store:
        check_store(store, expected(revision))


def test_an_earlier_export_imports_with_every_figure_as_it_was(location: str) -> None:
    with open_store(location) as store:
        merge(store, [EXPORT])
        check_store(store, expected("revision-0005"))
        assert merge(store, [EXPORT]).new == {"records": 0, "graphs": 0, "proofs": 0}


def test_limits_are_found_by_the_new_key(tmp_path: Path) -> None:
    (old,) = expected("revision-0005")["limits"]
    key = "network=lenet dataset=mnist framework=null batch=1 threads=1"
    with open_store(copied_store("revision-0005", tmp_path)) as store:
        limit = store.find_limit(old["machine"], key)
    assert limit is not None
    assert (limit.fits, limit.fails, limit.versions) == (old["fits"], old["fails"], old["versions"])


def test_a_migrated_store_equals_an_imported_export(tmp_path: Path) -> None:
    with open_store(copied_store("revision-0005", tmp_path)) as old, open_store(str(tmp_path / "new.db")) as new:
        merge(new, [EXPORT])
        assert repr(new.records()) == repr(old.records())


def test_matrix_products_have_a_width_and_no_dataset(tmp_path: Path) -> None:
    with open_store(copied_store("revision-0005", tmp_path)) as store:
        found = {
            record.cell.key(): record.figures["throughput"].unit for record in store.records({"network": "matmul"})
        }
    assert found == {
        "network=matmul options=width:1024 dataset=none framework=reference batch=16 threads=1": "samples/s",
        "network=matmul dataset=none framework=null batch=16 threads=1": "samples/s",
    }


def test_a_postgresql_store_of_revision_0005_is_migrated_too(postgres_server: Any, tmp_path: Path) -> None:
    """The rows of the SQLite fixture, put into tables that the migrations up to 0005 made there."""
    from tests.results.test_migrate import connected, upgraded_to

    location = postgres_server.new_database()
    source = sa.create_engine(f"sqlite:///{copied_store('revision-0005', tmp_path)}")
    with connected(location) as target, source.connect() as old:
        upgraded_to(target, "0005")
        for name in ("records", "courses", "proofs", "limits"):
            table = sa.Table(name, sa.MetaData(), autoload_with=target)
            rows = [
                dict(row)
                for row in old.execute(sa.select(sa.Table(name, sa.MetaData(), autoload_with=old))).mappings()
            ]
            target.execute(sa.insert(table), [_for_postgres(row) for row in rows])
    source.dispose()
    with open_store(location) as store:
        check_store(store, expected("revision-0005"))
        assert read_location(location).path is None
        with store.connection() as connection:
            assert connection.execute(sa.select(sa.func.count()).select_from(LIMITS)).scalar() == 1


def _for_postgres(row: dict[str, Any]) -> dict[str, Any]:
    return {name: float("nan") if value == "nan" else value for name, value in row.items()}
