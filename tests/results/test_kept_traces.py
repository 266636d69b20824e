"""A record's trace is kept with it, and records of before it was are read without one."""

from pathlib import Path

from tests.results.exports import some_records, some_trainings
from tests.results.fixtures import copied_store

from netdyno.results.store import open_store


def test_a_trace_comes_back_as_it_was(location: str) -> None:
    (record,) = [record for record in some_records() if record.trace]
    with open_store(location) as store:
        store.add(record)
        assert store.records() == [record]


def test_records_of_before_traces_were_kept_have_none(tmp_path: Path) -> None:
    with open_store(copied_store("revision-0004", tmp_path)) as store:
        records = store.records()
    assert records
    assert {repr(record.trace) for record in records} == {"{}"}


def test_a_loss_that_is_no_number_is_kept_in_a_curve(location: str) -> None:
    with open_store(location) as store:
        for training in some_trainings():
            store.add(training)
        found = sorted(store.records(), key=lambda record: record.id)
        assert repr(found) == repr(some_trainings())
