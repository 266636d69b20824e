"""Another machine's export comes in whole or not at all, and twice is once."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.results.exports import everything, exported, full_store, parsed, some_records, written
from tests.results.fixtures import EXPORT
from tests.results.samples import make_record, make_training

from netdyno.errors import NetdynoError
from netdyno.results.exchange import reading
from netdyno.results.exchange.merge import Merged, merge
from netdyno.results.result import results_of
from netdyno.results.store import Store, open_store

HEADER = b'{"format": "netdyno-results", "schema_version": 2}\n'


@pytest.fixture
def export_path(tmp_path: Path) -> Path:
    path = tmp_path / "export.jsonl"
    with full_store(tmp_path / "source.db") as store:
        path.write_bytes(exported(store))
    return path


def edited(path: Path, change: Callable[[dict[str, Any]], Any], *, keep_digest: bool = False) -> Path:
    """The export after someone edited it; without its digest, which would tell."""
    told = parsed(path.read_bytes())
    change(told)
    changed = path.with_name("edited.jsonl")
    changed.write_bytes(written(told, keep_digest=keep_digest))
    return changed


def refused(store: Store, path: Path) -> str:
    before = everything(store)
    with pytest.raises(NetdynoError) as caught:
        merge(store, [path])
    assert everything(store) == before
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_store_is_the_same_after_export_and_import(location: str, export_path: Path) -> None:
    with open_store(location) as target, open_store(str(export_path.with_name("source.db"))) as source:
        merged = merge(target, [export_path])
        assert everything(target) == everything(source)
        assert repr(results_of(target.records())) == repr(results_of(source.records()))
        assert exported(target) == export_path.read_bytes()
    assert merged == Merged(
        new={"records": 10, "graphs": 1, "proofs": 2},
        known={"records": 0, "graphs": 0, "proofs": 0},
        machines={"here", "there"},
    )


def test_what_is_known_already_is_counted_and_left(location: str, export_path: Path) -> None:
    with open_store(location) as store:
        store.add(some_records()[5])  # its last loss is NaN, which is not equal to itself
        first, second = merge(store, [export_path]), merge(store, [export_path, export_path])
        assert len(store.records()) == 10
    assert (first.new["records"], first.known["records"]) == (9, 1)
    assert second.new == {"records": 0, "graphs": 0, "proofs": 0}
    assert second.known == {"records": 20, "graphs": 2, "proofs": 4}


def test_a_store_knows_its_own_export_again_even_what_could_not_be_shown(location: str, tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    with open_store(location) as store:
        store.add(make_record(outcome="crashed", reason="\x1b[31mcore dumped", samples=()))
        path.write_bytes(exported(store))
        assert merge(store, [path]).known["records"] == 1
    with open_store(str(tmp_path / "other.db")) as other:
        merge(other, [path])
        assert other.records()[0].reason == "�[31mcore dumped"


def test_the_same_id_with_other_content_imports_nothing(location: str, export_path: Path) -> None:
    with open_store(location) as store:
        store.add(replace(some_records()[-1], reason="something else"))
        told = refused(store, export_path)
    assert "record oom is kept already, with other content" in told


def test_the_same_id_twice_in_files_must_be_the_same(tmp_path: Path, export_path: Path) -> None:
    other = edited(export_path, lambda told: told["record"][2].update(loss_first=9.0))
    with open_store(str(tmp_path / "b.db")) as store:
        with pytest.raises(NetdynoError, match=r"edited.jsonl.*record 3: .* twice, with other content"):
            merge(store, [export_path, other])
        assert everything(store) == []


def test_a_run_that_its_series_has_already_under_another_id_imports_nothing(location: str, export_path: Path) -> None:
    first, second = some_records()[:2]
    with open_store(location) as store:
        store.add(first)  # so that it is the same series
        store.add(replace(second, id="measured-here"))
        with pytest.raises(
            NetdynoError, match=r"here-1-2 repeats record measured-here: both are run 2 of series 1 of"
        ):
            merge(store, [export_path])
        assert [record.id for record in store.records()] == ["here-1-1", "measured-here"]
        assert store.proofs() == []


def test_the_same_run_twice_in_a_file_imports_nothing(
    location: str, export_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = edited(export_path, lambda told: told["record"].append(told["record"][2] | {"id": "again"}))
    with open_store(location) as store:
        with pytest.raises(NetdynoError, match="record here-1-1 repeats record again"):
            merge(store, [path])
        assert everything(store) == []
    assert caplog.records == []  # a warning would be a second line on stderr


def test_the_newer_of_two_proofs_is_kept(location: str, export_path: Path) -> None:
    later = "2026-11-16T09:00:00+00:00"
    newer = edited(export_path, lambda told: told["proof"][0].update(proved_at=later, passed=False, reason="worse"))
    with open_store(location) as store:
        merge(store, [newer])
        assert merge(store, [export_path]).known["proofs"] == 2
        (proof,) = [proof for proof in store.proofs() if proof.framework == "alpha-1.0"]
    assert (proof.proved_at, proof.passed) == (later, False)


def test_two_proofs_of_the_same_in_several_files_do_not_clash(location: str, export_path: Path) -> None:
    later = "2026-11-16T09:00:00+00:00"
    newer = edited(export_path, lambda told: told["proof"][0].update(proved_at=later))
    with open_store(location) as store:
        merge(store, [export_path, newer])
        assert [proof.proved_at for proof in store.proofs() if proof.framework == "alpha-1.0"] == [later]


def test_several_files_come_in_together_or_not_at_all(tmp_path: Path, export_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_bytes(export_path.read_bytes()[:-200])
    with open_store(str(tmp_path / "b.db")) as store:
        with pytest.raises(NetdynoError, match=r"cut.json.*is cut"):
            merge(store, [export_path, cut])
        assert everything(store) == []


def test_a_compressed_export_is_unpacked_and_a_damaged_one_refused(tmp_path: Path, export_path: Path) -> None:
    packed = tmp_path / "packed"  # by its content, not by its name
    packed.write_bytes(gzip.compress(export_path.read_bytes()))
    with open_store(str(tmp_path / "b.db")) as store:
        merge(store, [packed])
        assert len(store.records()) == 10
        packed.write_bytes(packed.read_bytes()[:-500])
        assert "cut or damaged" in refused(store, packed)
        packed.write_bytes(gzip.compress(b"{")[:-2] + b"xx")
        assert "cut or damaged" in refused(store, packed)


def test_an_export_that_was_laid_out_anew_is_still_the_same(tmp_path: Path, export_path: Path) -> None:
    path = tmp_path / "spaced.jsonl"
    path.write_text("".join(json.dumps(json.loads(line)) + " \n" for line in export_path.read_text().splitlines()))
    old = tmp_path / "pretty.json"
    old.write_text(json.dumps(json.loads(EXPORT.read_text()), indent=3))
    with open_store(str(tmp_path / "b.db")) as store:
        assert merge(store, [path]).new["records"] == 10
    with open_store(str(tmp_path / "c.db")) as store:
        assert merge(store, [old]).new["records"] > 20


def test_a_number_that_was_changed_is_told_by_the_digest(tmp_path: Path, export_path: Path) -> None:
    path = edited(export_path, lambda told: told["record"][4]["samples"][0].update(seconds=0.05), keep_digest=True)
    with open_store(str(tmp_path / "b.db")) as store:
        assert "was changed after it was exported" in refused(store, path)


def test_a_newer_schema_is_told_with_both_versions(tmp_path: Path, export_path: Path) -> None:
    path = edited(export_path, lambda told: told["header"][0].update(schema_version=7))
    with open_store(str(tmp_path / "b.db")) as store:
        told = refused(store, path)
    assert "schema_version 7; this netdyno reads up to 2" in told
    assert "Upgrade netdyno" in told


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is cut"),
        (b"[]", "expected an object"),
        (b"{}", "received none named format"),
        (b'{"records": [{}]}', "received none named format"),
        (b'{"format": "other"}', "received 'other'"),
        (b'{"format": "netdyno-results", "schema_version": "1"}', "field schema_version: expected a whole number"),
        (b'{"format": "netdyno-results", "schema_version": 1, "extra": 1}', "no field of an export is named 'extra'"),
        (b'{"format": "netdyno-results", "schema_version": 1, "records": {}}', "expected a list for 'records'"),
        (
            b'{"format": "netdyno-results", "schema_version": 1, "records": [3]}',
            "record 1: expected an object, received 3",
        ),
        (b'{"format": "netdyno-results", "format": "netdyno-results"}', "received none named schema_version"),
        (b'{"format": "netdyno-results", "schema_version": 1} more', "trailing characters"),
        (b'{"format": "netdyno-results", "schema_version": NaN}', "it is no JSON at"),
        (b'{"format": "netdyno-results", "schema_version": ' + b"9" * 5000 + b"}", "digits"),
        (b'{"format": "netdyno-results", "schema_version": ' + b"[" * 100_000, "nested too deep"),
        (b'{"format": ' + b" " * 100, "it is cut"),
        (b"\xff\xfe\x00", "not text"),
        (b"SQLite format 3\0" + b"\0" * 100, "it is a store, not an export. Export it first: netdyno --store"),
        (b"network,dataset\nlenet,mnist\n", "it is no JSON at the start"),
        (HEADER, "it is cut"),
        (HEADER + b'{"kind": "end"}\n{"kind": "end"}\n', "nothing behind the line that ends it"),
        (HEADER + b'{"kind": "surprise"}\n', "expected a kind among record, proof, graph, machine, end"),
        (HEADER + b"[1]\n", "expected a kind among"),
        (HEADER + b'{"kind": "record"\n', "it is cut"),
        (HEADER + b'{"kind": "record"}\n', "record 1: expected a field 'id', received none"),
        (HEADER + b'{"kind": "graph", "digest": "x", "wire": "no JSON"}\n', "field wire: expected a graph as JSON"),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_what_is_no_export_is_told_in_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with open_store(str(tmp_path / "b.db")) as store:
        assert words in refused(store, path)


def test_a_wrong_value_is_told_with_its_record_and_field(tmp_path: Path, export_path: Path) -> None:
    path = edited(export_path, lambda told: told["record"][7]["samples"][3].update(seconds="fast"))
    with open_store(str(tmp_path / "b.db")) as store:
        told = refused(store, path)
    assert "record 8, field samples[3].seconds: expected a number, received 'fast'." in told


def test_files_that_cannot_be_opened_are_named(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "b.db")) as store:
        assert "no such file" in refused(store, tmp_path / "missing.json")
        assert "is a directory" in refused(store, tmp_path)


def test_a_value_larger_than_memory_should_hold_is_refused(
    tmp_path: Path, export_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGEST_LINE", 5_000)
    path = edited(export_path, lambda told: told["record"][1].update(reason="x" * 20_000))
    with open_store(str(tmp_path / "b.db")) as store:
        assert "the line behind record 1 has over 5,000 bytes" in refused(store, path)
    monkeypatch.setattr(reading, "LARGEST_FILE", 5_000)
    monkeypatch.setattr(reading, "LARGEST_OBJECT", 5_000)
    with open_store(str(tmp_path / "b.db")) as store:
        assert "it has over 0 GiB" in refused(store, export_path)
        assert "it has over 0 GiB" in refused(store, EXPORT)


def test_an_integer_of_many_bits_in_a_machines_description_comes_through(tmp_path: Path) -> None:
    record = make_record(environment={"serial": 2**80})
    path = tmp_path / "large.jsonl"
    with open_store(str(tmp_path / "a.db")) as store:
        store.add(record)
        path.write_bytes(exported(store))
    with open_store(str(tmp_path / "b.db")) as store:
        merge(store, [path])
        assert store.records() == [record]


def test_a_series_that_was_divided_since_the_last_import_is_not_refused(location: str, tmp_path: Path) -> None:
    failed = make_training(2, outcome="failed", curve=(), figures={}, readings={})
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    with open_store(str(tmp_path / "a.db")) as source:
        source.add(make_training(1))
        source.add(failed)
        before.write_bytes(exported(source))
        later = make_training(2, id="repeated", series=source.leave_behind([failed]))
        source.add(later)
        after.write_bytes(exported(source))
    with open_store(location) as store:
        merge(store, [before])
        merge(store, [after])
        assert {record.id for record in store.records()} == {"training-1", "training-2", "repeated"}
