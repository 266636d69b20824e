"""What a store keeps, finds, and refuses, on both back ends."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.results.samples import make_cell, make_record

from netdyno.errors import NetdynoError
from netdyno.results.proof import Proof, Proved
from netdyno.results.result import results_of
from netdyno.results.store import open_store

PROCESSES = 4
EACH = 50


def test_what_is_added_is_found_after_reopening(location: str) -> None:
    record = make_record(
        versions={"library": "1.2"}, flags=("drifting",), environment={"cpu": "A", "caches": {"L2": 8}}
    )
    with open_store(location) as store:
        store.add(record)
    with open_store(location, create=False) as store:
        assert store.records() == [record]
        assert store.has(record.id)
        assert not store.has("another")


def test_the_same_record_twice_is_kept_once(location: str) -> None:
    record = make_record(build_s=1, environment={"range": (1, 2)})
    with open_store(location) as store:
        store.add(record)
        store.add(record)
        assert len(store.records()) == 1


def test_the_same_id_with_other_content_is_refused(location: str) -> None:
    with open_store(location) as store:
        store.add(make_record())
        with pytest.raises(NetdynoError, match="here-1-1 is kept already, with other content"):
            store.add(make_record(outcome="failed", samples=()))
        assert store.records() == [make_record()]


def test_a_run_whose_number_is_taken_goes_into_a_later_series(location: str) -> None:
    with open_store(location) as store:
        store.add(make_record())
        store.add(make_record(series=2, id="second"))
        kept = store.add(make_record(id="other"))
        assert kept.series == 3
        assert store.add(make_record(id="other")).id == "other"  # adding it again changes nothing
        assert {record.id: record.series for record in store.records()} == {"here-1-1": 1, "second": 2, "other": 3}


def test_records_are_found_by_cell_fields_series_outcome_and_machine(location: str) -> None:
    big = make_cell(batch=64)
    records = [
        make_record(number=1),
        make_record(number=2, outcome="crashed", samples=(), reason="signal 11"),
        make_record(big, series=2, id="big"),
        make_record(machine="there"),
    ]
    with open_store(location) as store:
        for record in records:
            store.add(record)

        def found(machine: str | None = None, **where: str | int) -> set[str]:
            return {record.id for record in store.records(where, machine)}

        assert found() == {"here-1-1", "here-1-2", "big", "there-1-1"}
        assert found(batch=64) == found(batch="64") == found(series=2) == {"big"}
        assert found(outcome="crashed") == {"here-1-2"}
        assert found("there") == {"there-1-1"}
        assert found("here", network="lenet", batch=32) == {"here-1-1", "here-1-2"}
        assert found(network="vgg16") == set()


def test_records_come_oldest_first(location: str) -> None:
    with open_store(location) as store:
        for number, hour in ((1, 12), (2, 10), (3, 11)):
            store.add(make_record(number=number, started_at=f"2026-11-15T{hour}:00:00+00:00"))
        assert [record.number for record in store.records()] == [2, 3, 1]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"netwrok": "lenet"}, "no field named 'netwrok'.*Did you mean 'network'"),
        ({"batch": "many"}, "batch: expected a whole number, received 'many'"),
        ({"batch": 10**30}, "batch: expected a whole number"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused(location: str, where: dict[str, str | int], said: str) -> None:
    with open_store(location) as store, pytest.raises(NetdynoError, match=said):
        store.records(where)


def test_finished_says_which_runs_have_ended_whatever_their_outcome(location: str) -> None:
    cell, other = make_cell(), make_cell(batch=1)
    with open_store(location) as store:
        store.add(make_record(cell, number=1))
        store.add(make_record(cell, number=2, outcome="out of memory", samples=()))
        store.add(make_record(cell, series=2, number=1))
        store.add(make_record(other, number=3))
        store.add(make_record(cell, number=9, machine="there"))
        finished = {key: [(run.series, run.number) for run in runs] for key, runs in store.finished("here").items()}
        assert finished == {cell.key(): [(1, 1), (1, 2), (2, 1)], other.key(): [(1, 3)]}
        assert store.finished("nowhere") == {}


def test_quotes_in_values_are_only_text(location: str) -> None:
    record = make_record(machine="it's; DROP TABLE records; --")
    with open_store(location) as store:
        store.add(record)
        assert store.records({"network": "' OR 1=1 --"}) == []
        assert store.records(machine=record.machine) == [record]


def test_processes_that_write_at_once_lose_nothing(location: str) -> None:
    """They also open the store at once, before anyone has made it."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(PROCESSES)
    writers = [context.Process(target=_add_many, args=(location, n, start)) for n in range(PROCESSES)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0] * PROCESSES
    with open_store(location, create=False) as store:
        assert len(store.records()) == PROCESSES * EACH
        numbers = {run.number for run in store.finished("writer-3")[make_cell().key()]}
    assert numbers == set(range(1, EACH + 1))


def test_a_killed_writer_leaves_an_intact_file_with_all_it_finished(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    program = "import sys; from tests.results.test_store import add_and_tell; add_and_tell(sys.argv[1])"
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    writer = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, env=environment, cwd=root
    )
    assert writer.stdout is not None
    told = [int(writer.stdout.readline()) for _ in range(20)]
    time.sleep(0.01)  # somewhere inside a transaction
    writer.send_signal(signal.SIGKILL)
    told += [int(line) for line in writer.stdout.read().split()]
    writer.wait()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with open_store(str(path)) as store:
        kept = {run.number for run in store.finished("here")[make_cell().key()]}
        assert set(told) <= kept <= {*told, max(told) + 1}
        store.add(make_record(number=max(told) + 2))


def test_a_file_is_written_ahead_and_fully_synchronised(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "results.db")) as store, store._engine.connect() as connection:
        pragma = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragma == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}


def add_and_tell(location: str) -> None:
    """Add records until killed, saying each number once it is on disk."""
    with open_store(location) as store:
        for number in range(1, 100_000):
            store.add(make_record(number=number))
            print(number, flush=True)


def _add_many(location: str, writer: int, start: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    with open_store(location) as store:
        for number in range(1, EACH + 1):
            store.add(make_record(machine=f"writer-{writer}", number=number))


def _proof(**changes) -> Proof:
    cell = make_cell()
    names = ("framework", "network", "dataset", "device", "precision", "execution")
    fields = {name: getattr(cell, name) for name in names} | {"machine": "m1", "proved_at": "2026-11-15T00:00:00"}
    kept = {"graph_identity": "graph", "resolution": {"gradients": 1e-5}}
    return Proof(**fields | kept | {"passed": True, "gradients": 1e-6, "versions": {"library": "1.2"}} | changes)


def test_the_last_proof_replaces_the_one_before(location: str) -> None:
    with open_store(location) as store:
        store.add_proof(_proof(passed=False, reason="crashed", gradients=None))
        store.add_proof(_proof(gradients=float("inf")))
        store.add_proof(_proof(network="other"))
        assert len(store.proofs("m1")) == 2
        assert store.proofs("m2") == []
        assert _proof(gradients=float("inf")) in store.proofs()


def test_a_measured_framework_without_a_passed_proof_is_named(location: str) -> None:
    record = make_record(machine="m1")
    with open_store(location) as store:
        store.add(record)
        found = results_of(store.records())
        assert Proved(store.proofs()).missing(found) == [record.cell.framework]
        store.add_proof(_proof(passed=False))
        assert Proved(store.proofs()).missing(found) == [record.cell.framework]
        store.add_proof(_proof())
        assert Proved(store.proofs()).missing(found) == []
