"""Results leave a store in every format, whole, in the terminal's order, and harmless whatever their names."""

import csv
import gzip
import io
import json
import re
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.results.exports import everything, exported, full_store, some_records, some_trainings
from tests.results.samples import make_cell, make_record

from netdyno.errors import NetdynoError
from netdyno.results.exchange.files import EXPORTS, Exporter, export_file, find_exporter, format_of
from netdyno.results.exchange.selection import Selection
from netdyno.results.result import results_of
from netdyno.results.store import open_store

HOSTILE = "=cmd|' /C calc'!A1 <script>alert(1)</script> \\write18{x} | # _ & % $ ~ ^ {x} [y](z) `q` *b*"


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def test_a_selection_reads_the_same_results_in_the_same_order_as_all_at_once(location: str) -> None:
    with full_store(location) as store:
        store.add(make_record(make_cell(batch=128), id="wide"))
        store.add(make_record(make_cell(network="Änet"), id="umlaut"))
        store.add(make_record(make_cell(network="Zoo"), id="capital"))
        for every_series in (False, True):
            bare = [replace(record, warmup=(), trace={}) for record in store.records()]
            expected = results_of(bare, every_series=every_series)
            found = list(Selection(store=store, every_series=every_series).results())
            assert repr(found) == repr(expected)


def test_records_are_exported_of_every_series_and_results_of_the_newest(tmp_path: Path) -> None:
    with full_store(tmp_path / "a.db") as store:
        selection = Selection(store=store, selector="workload=train,network=lenet,batch=32,machine=here")
        assert [(record.series, record.number) for record in selection.records()] == [
            (1, 1),
            (1, 2),
            (2, 1),
            (2, 2),
            (2, 3),
        ]
        assert [result.series for result in selection.results()] == [2]
        both = Selection(
            store=store, selector="workload=train,network=lenet,batch=32,machine=here", every_series=True
        )
        assert [result.series for result in both.results()] == [1, 2]


def test_csv_has_a_row_for_each_result_with_units_in_the_names(tmp_path: Path) -> None:
    with full_store(tmp_path / "a.db") as store:
        rows = rows_of(exported(store, "csv"))
        (expected,) = [r for r in results_of(store.records()) if r.cell.device == "cuda"]
    assert len(rows) == 6
    (gpu,) = [row for row in rows if row["device"] == "cuda"]
    assert float(gpu["throughput_value"]) == expected.head.value
    assert (gpu["throughput_low"], expected.head.low) == ("", None)  # one run has no interval
    assert (gpu["headline"], gpu["throughput_unit"], gpu["power_value"]) == ("throughput", "images/s", "500.0")
    assert (gpu["mean_w"], gpu["j_per_item"], gpu["runs"]) == ("500.0", "0.25", "1")
    assert gpu["chosen_execution"] == "compiled"
    assert json.loads(gpu["other_readings_json"]) == {"load_decode_s": 0.5}
    assert json.loads(gpu["absent_json"]) == {"package_j_per_item": "no counters"}
    assert gpu["proved"] == "false"
    (failed,) = [row for row in rows if row["outcome"] == "out of memory"]
    assert (failed["throughput_value"], failed["reason"]) == ("", "asked 5 GiB | & had <3>")
    proved = {(row["machine"], row["proved"]) for row in rows if row["network"] == "lenet"}
    assert proved == {("here", "true"), ("there", "false")}  # a proof holds for the machine it was made on
    (learned,) = [row for row in rows if row["workload"] == "learn" and row["accuracy_value"]]
    assert (learned["goal"], learned["source"], learned["accuracy_value"]) == ("epochs=1", "mnist", "0.98")


def test_csv_gives_a_spreadsheet_no_formula_to_run(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        store.add(make_record(make_cell(network=HOSTILE, framework="@SUM(1)"), machine="+1"))
        (row,) = rows_of(exported(store, "csv"))
    assert row["network"] == f"'{HOSTILE}"
    assert (row["framework"], row["machine"]) == ("'@SUM(1)", "'+1")


def test_parquet_holds_what_the_csv_holds(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with full_store(tmp_path / "a.db") as store:
        table = parquet.read_table(io.BytesIO(exported(store, "parquet"))).to_pylist()
        rows = rows_of(exported(store, "csv"))
    assert [list(row) for row in table] == [list(row) for row in rows]
    assert [row["throughput_value"] for row in table] == [
        float(r["throughput_value"]) if r["throughput_value"] else None for r in rows
    ]
    assert [row["batch"] for row in table] == [int(row["batch"]) for row in rows]


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        full_store(tmp_path / "a.db") as store,
        pytest.raises(NetdynoError, match=r"pip install 'netdyno\[parquet\]'"),
    ):
        export_file(Selection(store=store), EXPORTS["parquet"], tmp_path / "a.parquet")
    assert not list(tmp_path.glob("a.parquet*"))


def test_markdown_tables_have_as_many_columns_as_their_heads_and_say_what_is_weak(tmp_path: Path) -> None:
    with full_store(tmp_path / "a.db") as store:
        text = exported(store, "markdown").decode()
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.split(r"(?<!\\)\|", line)) for line in tables} == {11, 14, 15}
    assert "asked 5 GiB \\| &amp; had &lt;3&gt;" in text
    assert "compiled\\*" in text
    assert "Not proved here to train the same network as the reference: alpha-1.0." in text


@pytest.mark.parametrize("to", ["markdown", "latex"])
def test_no_name_has_a_meaning_in_a_table(tmp_path: Path, to: str) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        store.add(make_record(make_cell(network=HOSTILE)))
        text = exported(store, to).decode()
    assert "<script>" not in text
    assert "\\write18" not in text.replace("\\\\write18", "")
    (row,) = [line for line in text.splitlines() if "cmd" in line]
    if to == "latex":
        bare = re.sub(r"\\[&%$#_{}]|\\text\w+\{[^}]*\}|\$\\(times|pm)\$", "", row)
        assert bare.count("&") == 8
        assert not re.search(r"[%#_~^<>|\"]", bare)
    else:
        assert len(re.split(r"(?<!\\)\|", row)) == 11


def test_latex_splits_long_tables_into_floats_that_balance(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        for batch in range(1, 86):
            store.add(make_record(make_cell(batch=batch), id=f"b{batch}"))
        text = exported(store, "latex").decode()
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 3
    assert text.count("(continued)") == 2
    assert sum(line.endswith(r"\\") for line in text.splitlines()) == 85 + 3


def test_mlperf_logs_tell_each_run_from_its_start_to_its_stop(tmp_path: Path) -> None:
    with full_store(tmp_path / "a.db") as store:
        lines = exported(store, "mlperf").decode().splitlines()
    assert all(line.startswith(":::MLLOG {") for line in lines)
    events = [json.loads(line.removeprefix(":::MLLOG ")) for line in lines]
    assert {tuple(event) for event in events} == {("namespace", "time_ms", "event_type", "key", "value", "metadata")}
    assert {event["namespace"] for event in events} == {record.id for record in (*some_records(), *some_trainings())}
    for record in some_records():
        own = [event for event in events if event["namespace"] == record.id]
        assert [e["time_ms"] for e in own] == sorted(e["time_ms"] for e in own)
        keys = [event["key"] for event in own]
        assert [keys.count(key) for key in ("submission_benchmark", "init_stop", "run_start", "run_stop")] == [1] * 4
        assert keys.count("block_start") == keys.count("block_stop") == len(record.samples)
        stop = own[-1]
        assert stop["key"] == "run_stop"
        assert stop["metadata"]["status"] == ("success" if record.samples else "aborted")
        assert stop["metadata"]["samples_count"] == sum(s.steps for s in record.samples) * record.cell.batch


def test_mlperf_throughput_is_that_of_the_result(tmp_path: Path) -> None:
    with full_store(tmp_path / "a.db") as store:
        lines = exported(store, "mlperf", selector="device=cuda").decode().splitlines()
        (result,) = results_of(store.records({"device": "cuda"}))
    whole = json.loads(lines[-2].removeprefix(":::MLLOG "))
    assert whole["value"]["throughput"] == pytest.approx(result.head.value, rel=1e-9)
    assert whole["value"]["power"] == 500


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path: Path) -> None:
    def fail(selection: Selection, file: object) -> int:
        file.write(b"half")  # type: ignore[attr-defined]
        raise NetdynoError("power cut")

    path = tmp_path / "old.csv"
    path.write_text("old")
    broken = Exporter(write=fail, things="results", suffixes=())
    with full_store(tmp_path / "a.db") as store, pytest.raises(NetdynoError, match="power cut"):
        export_file(Selection(store=store), broken, path)
    assert path.read_text() == "old"
    assert not list(tmp_path.glob("*.making"))


def test_a_name_in_gz_is_compressed_and_tells_its_format(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    assert format_of(path) == "json"
    with full_store(tmp_path / "a.db") as store:
        assert export_file(Selection(store=store), EXPORTS["json"], path) == 10
        assert gzip.decompress(path.read_bytes()) == exported(store)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("b.TEX", "latex"),
        ("c.md", "markdown"),
        ("d.parquet", "parquet"),
        ("a.json", "json"),
        ("a.jsonl", "json"),
        ("e", None),
        ("f.doc", None),
    ],
)
def test_a_file_name_tells_its_format(name: str, expected: str | None) -> None:
    assert format_of(Path(name)) == expected


def test_what_cannot_be_exported_is_told_in_one_line(tmp_path: Path) -> None:
    with full_store(tmp_path / "a.db") as store:
        selection = Selection(store=store)
        with pytest.raises(NetdynoError, match="is a folder"):
            export_file(selection, EXPORTS["csv"], tmp_path)
        with pytest.raises(NetdynoError, match="cannot be written: no such file or directory"):
            export_file(selection, EXPORTS["csv"], tmp_path / "no" / "such.csv")
        nothing = Selection(store=store, selector="network=vgg16")
        for to, exporter in EXPORTS.items():
            with pytest.raises(NetdynoError, match="no result matches 'network=vgg16'"):
                export_file(nothing, exporter, tmp_path / f"nothing.{to}")
        assert not list(tmp_path.glob("nothing.*"))
    with pytest.raises(NetdynoError, match=r"no format named 'cvs'.*Did you mean 'csv'"):
        find_exporter("cvs")


@pytest.mark.parametrize("to", EXPORTS)
def test_an_empty_store_gives_an_empty_export(tmp_path: Path, to: str) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        assert export_file(Selection(store=store), EXPORTS[to], tmp_path / "out") == 0
        assert everything(store) == []
    assert (tmp_path / "out").exists()
