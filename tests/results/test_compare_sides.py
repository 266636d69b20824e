"""A side is a selector over one store or a file of its own, and mistakes in naming it are told."""

from pathlib import Path

import pytest
from tests.results.samples import make_cell, make_record

from netdyno.errors import NetdynoError
from netdyno.results.cell import Cell
from netdyno.results.compare.sides import find_sides
from netdyno.results.exchange.files import export_file, find_exporter
from netdyno.results.exchange.selection import Selection
from netdyno.results.record import Record
from netdyno.results.result import results_of
from netdyno.results.selectors import select
from netdyno.results.store import open_store

ALPHA, BETA = make_cell(framework="alpha-1.0"), make_cell(framework="beta-2.0")


def run(cell: Cell, series: int = 1, **changes: object) -> Record:
    machine = str(changes.pop("machine", "here"))
    identity = f"{cell.framework}-{cell.batch}-{series}-{machine}-{changes.get('number', 1)}"
    return make_record(cell, series=series, machine=machine, id=identity, **changes)


def keep(path: Path, *records: Record) -> str:
    with open_store(str(path)) as store:
        for record in records:
            store.add(record)
    return str(path)


def test_two_selectors_are_of_one_store(tmp_path: Path) -> None:
    store = keep(tmp_path / "a.sqlite", run(ALPHA), run(BETA), run(BETA, 2))
    ((a, b),) = find_sides("framework=alpha-1.0", "framework=beta-2.0", store).pairs
    assert (a.cell, b.cell, b.series) == (ALPHA, BETA, 2)


def test_two_stores_pair_their_newest_series(tmp_path: Path) -> None:
    before = keep(tmp_path / "before.sqlite", run(ALPHA), run(BETA))
    after = keep(tmp_path / "after.sqlite", run(ALPHA), run(ALPHA, 2), run(BETA))
    sides = find_sides(before, after, "no-store.sqlite")
    assert [(a.cell, a.series, b.series) for a, b in sides.pairs] == [(ALPHA, 1, 2)]
    assert sides.repeated == 1


def test_stores_of_one_machine_each_compare_the_machines(tmp_path: Path) -> None:
    here, there = keep(tmp_path / "here", run(ALPHA)), keep(tmp_path / "there", run(ALPHA, machine="there"))
    ((a, b),) = find_sides(here, there, "").pairs
    assert (a.machine, b.machine) == ("here", "there")


def test_a_file_may_be_compared_with_a_selection_of_the_store(tmp_path: Path) -> None:
    store = keep(tmp_path / "a.sqlite", run(ALPHA), run(ALPHA, 2))
    before = keep(tmp_path / "b.sqlite", run(ALPHA))
    ((a, b),) = find_sides(before, "series=2", store).pairs
    assert (a.series, b.series) == (1, 2)


def test_an_export_is_a_side_like_a_store(tmp_path: Path) -> None:
    before, after = keep(tmp_path / "a.sqlite", run(ALPHA)), keep(tmp_path / "b.sqlite", run(ALPHA, 2))
    exported = tmp_path / "after.json.gz"
    with open_store(after) as store:
        export_file(Selection(store=store), find_exporter("json"), exported)
    ((a, b),) = find_sides(before, str(exported), "").pairs
    assert (a.series, b.series) == (1, 2)
    exported.write_bytes(exported.read_bytes()[:-40])
    with pytest.raises(NetdynoError, match=r"after\.json\.gz"):
        find_sides(before, str(exported), "")


def test_versions_and_revisions_select_runs(tmp_path: Path) -> None:
    old = run(ALPHA, 1, versions={"numpy": "2.1.3"}, environment={"revision": "aaaa1111"}, netdyno_version="0.1.0")
    new = run(ALPHA, 2, versions={"numpy": "2.11"}, environment={"revision": "bbbb2222"}, netdyno_version="0.2.0")
    store = keep(tmp_path / "a.sqlite", old, new)
    for a, b in (
        ("version=numpy:2.1", "version=numpy:2.11"),
        ("revision=aaaa", "revision=bbbb2222"),
        ("netdyno=0.1.0", "netdyno=0.2.0"),
    ):
        ((x, y),) = find_sides(a, b, store).pairs
        assert (x.series, y.series) == (1, 2)


def test_a_series_that_was_continued_with_another_version_is_taken_apart() -> None:
    runs = [run(ALPHA, number=n, versions={"numpy": v}) for n, v in ((1, "2.1"), (2, "2.1"), (3, "2.2"))]
    (part,) = select(results_of(runs), "version=numpy:2.1")
    assert [record.number for record in part.records] == [1, 2]
    (other,) = select(results_of(runs), "version=numpy:2.2")
    assert [record.number for record in other.records] == [3]


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("framework=alpha-1.0", "framework=alpha-1.0", "two different sides, received .* twice"),
        ("batch=32,framework=alpha-1.0", "framework=alpha-1.0, batch=32", "two different sides"),
        ("batch=32", "network=lenet", "name the same runs"),
        ("framework=alpha-1.0", "framework=bata-2.0", "no framework named 'bata-2.0'.*Did you mean 'beta-2.0'"),
        ("framework=alpha-1.0", "framework=beta-2.0,batch=64", "no run matches 'framework=beta-2.0,batch=64'"),
        ("framework=beta-2.0", "batch=64", r"the nearest differ in threads \(2, 1\) too"),
        ("framework=alpha-1.0", "version=numpy:9", "no version named 'numpy:9' among the 1 known"),
        ("framework=alpha-1.0", "version=9", "version: expected LIBRARY:VERSION such as numpy:2.1, received '9'"),
        ("framework=alpha-1.0", "revision=abcd", "no run has a revision"),
        ("framework=alpha-1.0", "revision=HEAD", "revision: expected 4 or more hex digits, received 'HEAD'"),
        ("framework=alpha-1.0", "after.sqlite", "or a file of results, received 'after.sqlite'. No such file"),
        ("framework=alpha-1.0", "flavour=mint", "no field named 'flavour'"),
        ("framework=alpha-1.0", "", "expected a selector"),
    ],
)
def test_sides_that_cannot_be_meant_are_refused(tmp_path: Path, a: str, b: str, said: str) -> None:
    third = make_cell(framework="alpha-1.0", batch=64, threads=1)
    only = [run(ALPHA, versions={"numpy": "2.1"}), run(BETA)]
    store = keep(tmp_path / "a.sqlite", *(only[:1] if "same runs" in said else [*only, run(third)]))
    with pytest.raises(NetdynoError, match=said):
        find_sides(a, b, store)


def test_files_that_hold_no_results_are_refused(tmp_path: Path) -> None:
    good = keep(tmp_path / "good.sqlite", run(ALPHA))
    notes, empty = tmp_path / "notes.txt", tmp_path / "empty.sqlite"
    notes.write_text("a shopping list " * 100)
    keep(empty)
    for path, said in ((notes, "is not a database"), (empty, "no runs in")):
        with pytest.raises(NetdynoError, match=said):
            find_sides(good, str(path), "")
    with pytest.raises(NetdynoError, match="two different sides"):
        find_sides(good, f"{tmp_path}/../{tmp_path.name}/good.sqlite", "")
    assert notes.read_text().startswith("a shopping list")
