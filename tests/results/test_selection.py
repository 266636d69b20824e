"""What a database selects is what a look at every record would; nothing is lost on the way, and little is read."""

import itertools
import random
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.results.exports import full_store
from tests.results.samples import make_cell, make_record, make_training

from netdyno.cli import results as command
from netdyno.results.exchange.selection import Selection
from netdyno.results.record import Record
from netdyno.results.result import Result, results_of
from netdyno.results.selectors import SELECTABLE, select
from netdyno.results.store import Store, bulk, open_store
from netdyno.results.store.bulk import runs_by_cell, staging
from netdyno.results.store.rows import from_row, to_row
from netdyno.results.utilisation import StoredPeaks, measured_peak

VALUES = {
    "network": ("lenet", "Änet", "a' OR 1=1 --"), "dataset": ("mnist", "cifar10"), "framework": ("alpha", "beta-2.0"),
    "batch": (1, 32), "precision": ("float32", "tf32"), "execution": ("eager", "compiled"),
    "data": ("synthetic", "packed"), "device": ("cpu", "cuda"), "threads": (1, 2), "ranks": (1, 2), "nodes": (1, 2),
    "strategy": ("none", "data"), "synchrony": ("none", "all"), "workload": ("train", "forward"),
    "options": ({}, {"hidden": 512}, {"hidden": "512"}, {"hidden": 0.5}), "goal": ("", "epochs=1"),
    "source": ("", "mnist"),
}  # fmt: skip
SAID = {"options": ("hidden:512", "hidden:0.5"), "goal": ("epochs",), "source": ("mnist",)}
OF_RUNS = {
    "machine": ("here", "there"), "series": (1, 2), "netdyno": ("0.1.0", "0.2.0"),
    "version": ("numpy:2.1", "numpy:2.11", "numpy:2"), "revision": ("aaaa", "bbbb2222"),
    "id": ("run-7", "run-8"), "outcome": ("measured", "failed"),
}  # fmt: skip


def fill(store: Store, records: Iterable[Record]) -> list[Record]:
    kept = list(records)
    with staging(store) as stage:
        stage.add_runs([to_row(record) for record in kept], 1)
        stage.let_in()
    return kept


def drawn(seed: int, count: int) -> list[Record]:
    """Runs of cells that differ in every field, some of them of one cell; each has its own number."""
    chance = random.Random(seed)
    few = {name: values[:1] for name, values in VALUES.items()}
    records = []
    for number in range(count):
        varied = chance.sample(sorted(VALUES), 2)
        cell = make_cell(**{name: chance.choice((VALUES if name in varied else few)[name]) for name in VALUES})
        record = make_record(
            cell,
            id=f"run-{number}",
            outcome=chance.choice(OF_RUNS["outcome"]),
            number=number,
            machine=chance.choice(OF_RUNS["machine"]),
            series=chance.choice(OF_RUNS["series"]),
            started_at=f"2026-11-{chance.randint(1, 28):02d}T10:00:00+00:00",
            netdyno_version=chance.choice(("0.1.0", "0.2.0", "")),
            versions=chance.choice(({"numpy": "2.1.3"}, {"numpy": "2.11"}, {})),
            environment=chance.choice(({"revision": "aaaa1111"}, {"revision": "bbbb2222"}, {})),
        )
        records.append(record)
    return records


def selectors() -> list[str]:
    """One field each, then two."""
    said = {name: SAID.get(name) or tuple(str(value) for value in values) for name, values in VALUES.items()}
    said |= {name: tuple(map(str, values)) for name, values in OF_RUNS.items()}
    assert set(said) == set(SELECTABLE)
    single = [f"{name}={value}" for name, values in said.items() for value in values]
    pairs = itertools.combinations(single, 2)
    return single + [f"{a},{b}" for a, b in pairs if a.partition("=")[0] != b.partition("=")[0]][::7]


def looked_up(records: Iterable[Record], selector: str) -> list[Result]:
    """By a look at every record."""
    return select(results_of(records, every_series=True), selector)


def test_a_database_selects_what_a_look_at_every_record_does(location: str) -> None:
    with open_store(location) as store:
        records = fill(store, drawn(seed=17, count=300))
        assert list(runs_by_cell(store)) == sorted(
            records, key=lambda record: (record.cell, record.machine, record.series, record.number)
        )
        found = {selector: list(Selection(store=store, selector=selector).results()) for selector in selectors()}
        assert found == {selector: looked_up(records, selector) for selector in found}
        assert sum(bool(results) for results in found.values()) > 100


def test_results_are_counted_without_reading_them(location: str) -> None:
    with open_store(location) as store:
        records = fill(store, drawn(seed=18, count=200))
        for selector, every in itertools.product(
            ("", "network=lenet", "series=1", "version=numpy:2.1"), (False, True)
        ):
            selection = Selection(store=store, selector=selector, every_series=every)
            assert selection.count() == len(list(selection.results())) > 0
        assert Selection(store=store).count() == len(results_of(records))


def test_a_selector_takes_the_runs_of_every_series_where_records_are_asked_for(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        records = fill(store, drawn(seed=19, count=100))
        chosen = list(Selection(store=store, selector="version=numpy:2.1").records())
        assert {record.id for record in chosen} == {r.id for r in records if r.versions.get("numpy") == "2.1.3"}


@pytest.mark.parametrize("value", ["batch=99999999999999999999999", "network=a\0b", "network=\udcff"])
def test_a_value_that_no_database_compares_with_matches_nothing(location: str, value: str) -> None:
    with full_store(location) as store:
        selection = Selection(store=store, selector=value)
        assert list(selection.results()) == []
        assert selection.count() == 0
        assert "named" in str(selection.nothing())


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("network=lenett", "no network named 'lenett' among the 2 known. Did you mean 'lenet'?"),
        ("network=lenet,version=alpha:2", "no version named 'alpha:2' among the 1 known. Did you mean 'alpha:1.0'?"),
        ("revision=abcd", "no run has a revision: received 'revision=abcd'"),
        ("options=hidden:512", "no run has a options: received"),
        ("network=resnet50,batch=64", "no run matches 'network=resnet50,batch=64'. See what there is"),
    ],
)
def test_what_no_run_has_is_named_with_the_nearest(location: str, selector: str, said: str) -> None:
    with full_store(location) as store:
        assert said in str(Selection(store=store, selector=selector).nothing())


def test_a_replaced_series_is_shown_where_it_is_named(netdyno, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        fill(store, [make_record(series=series, started_at=f"2026-11-0{series}T10:00:00Z") for series in (1, 2)])
    found = netdyno.json("--store", str(tmp_path / "a.db"), "results", "series=1")
    assert len(found) == 1


def test_a_long_table_says_how_many_results_it_leaves_out(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(command, "MOST_ROWS", 3)
    with open_store(str(tmp_path / "a.db")) as store:
        fill(store, [make_record(make_cell(batch=2**place), id=f"run-{place}") for place in range(8)])
        selection = Selection(store=store)
        for count, is_cut in ((4, True), (3, False)):
            command._show(list(itertools.islice(selection.results(), count)), selection)
            shown = capsys.readouterr()
            assert shown.out.count("lenet/mnist") == 3
            assert ("Shown: the first 3 of 8 results." in " ".join(shown.err.split())) == is_cut


def test_one_cell_of_many_is_found_without_reading_the_others(tmp_path: Path, monkeypatch) -> None:
    read: list[str] = []

    def counted(row: Mapping[str, Any]) -> Record:
        read.append(row["id"])
        return from_row(row)

    monkeypatch.setattr(bulk, "from_row", counted)
    with open_store(str(tmp_path / "a.db")) as store:
        trace = {"power_w": [[0.1 * place, 500.0] for place in range(200)]}
        cells = [make_cell(network=f"net-{n}", batch=b + 1) for n in range(100) for b in range(10)]
        fill(
            store,
            (
                make_record(cell, id=f"{cell.network}-{cell.batch}-{number}", number=number, trace=trace)
                for cell in cells
                for number in (1, 2, 3)
            ),
        )
        start_s = time.process_time()
        (found,) = Selection(store=store, selector="network=net-7,batch=3").results()
        assert time.process_time() - start_s < 0.5
        assert len(found.records) == 3
        assert len(read) == 3


def test_a_result_that_is_not_whole_lacks_only_warm_up_and_trace(location: str) -> None:
    with full_store(location) as store:
        whole = [record for result in Selection(store=store).results(whole=True) for record in result.records]
        bare = [record for result in Selection(store=store).results() for record in result.records]
        assert repr(bare) == repr([replace(record, warmup=(), trace={}) for record in whole])
        assert any(record.trace for record in whole)


def test_a_stores_peak_is_that_of_its_runs_of_products(tmp_path: Path) -> None:
    cost = {"step_flops": 10**12}
    cells = [
        make_cell(network=network, device=device) for network in ("matmul", "lenet") for device in ("cpu", "cuda")
    ]
    with open_store(str(tmp_path / "a.db")) as store:
        runs = [make_record(cell, id=f"{cell.network}-{cell.device}", cost=cost) for cell in cells]
        fill(store, [*runs, make_training()])
        peaks = StoredPeaks(store)
        for run in runs:
            assert peaks(run) == measured_peak(runs, run) is not None
        assert peaks(replace(runs[0], machine="elsewhere")) is None
