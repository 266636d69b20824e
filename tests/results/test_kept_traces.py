"""A record's trace is kept with it, and records of before it was are read without one."""

import sqlalchemy as sa
from tests.results.exports import some_records
from tests.results.test_migrate import connected

from netdyno.results.store import open_store
from netdyno.results.tables import VERSION_TABLE


def test_a_trace_comes_back_as_it_was(location: str) -> None:
    (record,) = [record for record in some_records() if record.trace]
    with open_store(location) as store:
        store.add(record)
        assert store.records() == [record]


def test_records_of_before_traces_were_kept_have_none(location: str) -> None:
    (record,) = [record for record in some_records() if record.trace]
    with open_store(location) as store:
        store.add(record)
    with connected(location) as connection:  # as netdyno left it before
        connection.execute(sa.text("ALTER TABLE records DROP COLUMN trace"))
        connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '0004'"))
    with open_store(location) as store:
        (read,) = store.records()
    assert (read.id, read.trace, read.readings) == (record.id, {}, record.readings)


def test_a_loss_that_is_no_number_is_kept_in_a_curve(location: str) -> None:
    from tests.results.exports import some_courses

    with open_store(location) as store:
        for course in some_courses():
            store.add_course(course)
        assert repr(store.courses()) == repr(some_courses())
