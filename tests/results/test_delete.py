"""Runs that nobody wants are deleted by a selector; a dry run only says which."""

import sqlite3
from pathlib import Path

import pytest
from tests.results.samples import make_cell, make_record

from netdyno.results.result import results_of
from netdyno.results.store import open_store

LATER = "2026-11-15T11:00:00+00:00"


@pytest.fixture
def filled(netdyno):
    path = netdyno.home.parent / "store.sqlite"
    netdyno.environment["NETDYNO_STORE"] = str(path)
    with open_store(str(path)) as store:
        for number in (1, 2):
            store.add(make_record(number=number))
        store.add(make_record(make_cell(network="[/b]"), id="odd"))
        store.add(make_record(make_cell(batch=64), id="failed", outcome="failed", reason="x", samples=()))
    return path


def _ids(path: Path) -> list[str]:
    with sqlite3.connect(path) as database:
        return sorted(row[0] for row in database.execute("select id from runs"))


@pytest.mark.parametrize(
    ("selector", "left"),
    [
        ("network=lenet", ["odd"]),
        ("network=[/b]", ["failed", "here-1-1", "here-1-2"]),
        ("outcome=failed", ["here-1-1", "here-1-2", "odd"]),
        ("id=here-1-2", ["failed", "here-1-1", "odd"]),
    ],
)
def test_what_a_selector_names_is_deleted(netdyno, filled, selector, left):
    before = _ids(filled)
    would = netdyno("results", "delete", selector, "--dry-run")
    assert (would.returncode, _ids(filled)) == (0, before)
    assert f"would delete {len(before) - len(left)} run" in would.stdout
    assert netdyno("results", "delete", selector).returncode == 0
    assert _ids(filled) == left


def test_a_run_that_cannot_be_read_can_be_deleted(netdyno, filled):
    with sqlite3.connect(filled) as database:
        database.execute("update runs set figures = 'nonsense' where id = 'odd'")
    shown = netdyno("results")
    assert shown.returncode == 0
    assert "1 row cannot be read" in shown.stderr
    assert netdyno("results", "delete", "id=odd").returncode == 0
    assert "cannot be read" not in netdyno("results").stderr


def test_a_selector_that_names_nothing_deletes_nothing(netdyno, filled):
    done = netdyno("results", "delete", "network=alexnet")
    assert (done.returncode, len(_ids(filled))) == (2, 4)
    assert done.stderr.startswith("error: no run matches 'network=alexnet'")


def test_a_run_dated_in_the_future_hides_no_new_one():
    records = [make_record(series=2, id="future", started_at="2099-01-01T00:00:00+00:00"), make_record(series=1)]
    assert [result.series for result in results_of(records)] == [1]


def test_nor_is_its_series_gone_on_with(tmp_path):
    with open_store(str(tmp_path / "a.sqlite")) as store:
        store.add(
            make_record(
                series=2, id="future", started_at="2099-01-01T00:00:00+00:00", ended_at="2099-01-01T00:01:00+00:00"
            )
        )
        store.add(make_record(series=1, started_at=LATER, ended_at=LATER))
        assert [run.series for run in store.finished("here")[make_cell().key()]] == [2, 1]
