"""Two stores of one machine both count their series from 1; in one store all have their place, and time decides."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.results.exports import exported
from tests.results.samples import make_record, make_samples

from netdyno.errors import NetdynoError
from netdyno.results.exchange.merge import merge
from netdyno.results.exchange.renumber import Move, Numbering, Place
from netdyno.results.record import Record
from netdyno.results.result import results_of
from netdyno.results.selectors import newest_series
from netdyno.results.store import open_store


def series(store: str, day: int, number: int = 1, runs: int = 2, step_s: float = 0.1) -> list[Record]:
    """Runs that a store made on a day, as their ids tell."""
    return [
        make_record(
            id=f"{store}-day-{day}-{run}",
            series=number,
            number=run,
            started_at=f"2026-11-{day:02}T10:0{run}:00+00:00",
            ended_at=f"2026-11-{day:02}T10:0{run}:30+00:00",
            samples=make_samples([step_s] * 5),
        )
        for run in range(1, runs + 1)
    ]


def export(path: Path, *records: Record) -> Path:
    with open_store(str(path.with_suffix(".db"))) as store:
        for record in records:
            store.add(record)
        path.write_bytes(exported(store))
    return path


def numbers(records: list[Record]) -> dict[str, int]:
    return {record.id: record.series for record in records}


def test_a_series_whose_number_is_taken_gets_the_next(location: str, tmp_path: Path) -> None:
    other = export(tmp_path / "other.json", *series("b", 2), *series("b", 3, number=2))
    with open_store(location) as store:
        for record in series("a", 1):
            store.add(record)
        merged = merge(store, [other])
        assert (merged.new["records"], merged.moved) == (4, 1)
        assert numbers(store.records()) == {
            "a-day-1-1": 1, "a-day-1-2": 1, "b-day-2-1": 3, "b-day-2-2": 3, "b-day-3-1": 2, "b-day-3-2": 2,
        }  # fmt: skip
        again = merge(store, [other])
        assert (again.new["records"], again.known["records"], again.moved) == (0, 4, 0)


def test_the_newest_series_is_the_one_of_the_latest_run_whatever_its_number(location: str, tmp_path: Path) -> None:
    older = export(tmp_path / "older.json", *series("b", 1, step_s=0.2))
    with open_store(location) as store:
        for record in series("a", 5):
            store.add(record)
        merge(store, [older])
        records = store.records()
        (result,) = results_of(records)
        assert [record.id for record in result.records] == ["a-day-5-1", "a-day-5-2"]
        assert {record.id for record in newest_series(records)} == {"a-day-5-1", "a-day-5-2"}
        assert [found.series for found in results_of(records, every_series=True)] == [1, 2]
        assert store.finished("here")[records[0].cell.key()][-1].series == 1  # what a plan continues


def test_runs_that_were_added_to_a_known_series_join_it(location: str, tmp_path: Path) -> None:
    first = export(tmp_path / "first.json", *series("b", 2))
    longer = export(tmp_path / "longer.json", *series("b", 2, runs=3))
    with open_store(location) as store:
        for record in series("a", 1):
            store.add(record)
        merge(store, [first])
        assert merge(store, [longer]).new["records"] == 1
        assert {record.series for record in store.records() if record.id.startswith("b")} == {2}


def test_so_do_those_of_a_later_export_in_the_same_command(location: str, tmp_path: Path) -> None:
    first = export(tmp_path / "first.json", *series("b", 2))
    longer = export(tmp_path / "longer.json", *series("b", 2, runs=3))
    stranger = export(tmp_path / "stranger.json", *series("c", 3))
    with open_store(location) as store:
        merged = merge(store, [first, longer, stranger])
        assert (merged.new["records"], merged.known["records"], merged.moved) == (5, 2, 1)
        assert set(numbers(store.records()).values()) == {1, 2}
        assert {record.series for record in store.records() if record.id.startswith("b")} == {1}


def test_an_export_of_what_was_merged_is_known_where_its_numbers_differ(tmp_path: Path) -> None:
    a, b = export(tmp_path / "a.json", *series("a", 1)), export(tmp_path / "b.json", *series("b", 2))
    both = tmp_path / "both.json"
    with open_store(str(tmp_path / "a first.db")) as store:
        merge(store, [a, b])
        both.write_bytes(exported(store))
    with open_store(str(tmp_path / "b first.db")) as store:
        merge(store, [b, a])
        assert merge(store, [both]).known["records"] == 4
    with open_store(str(tmp_path / "at once.db")) as store:
        assert merge(store, [both, b, a]).known["records"] == 4
        assert len(store.records()) == 4


def test_another_content_is_told_although_numbers_may_differ(location: str, tmp_path: Path) -> None:
    known = series("b", 2)
    changed = export(tmp_path / "changed.json", replace(known[0], loss_last=9.0), known[1])
    with open_store(location) as store:
        for record in known:
            store.add(replace(record, series=4))
        with pytest.raises(NetdynoError, match="b-day-2-1 is kept already, with other content"):
            merge(store, [changed])


def test_no_series_moves_to_where_another_of_its_file_stays() -> None:
    owner = ("m", "c")
    numbering = Numbering({owner: {1, 2}})
    for number in (1, 2, 3, 4):
        numbering.see_new(owner, number)
    numbering.see_again(owner, 1, Place(file=0, series=1))  # twice in this file: that says nothing
    assert numbering.end_file() == [Move(*owner, 1, 5), Move(*owner, 2, 6)]
    numbering.see_again(owner, 9, Place(file=0, series=2))
    numbering.see_new(owner, 9)
    assert numbering.end_file() == [Move(*owner, 9, 6)]
    numbering.see_again(owner, 1, Place(file=1, series=9))
    numbering.see_new(owner, 1)
    assert numbering.end_file() == [Move(*owner, 1, 6)]
