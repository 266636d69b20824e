"""Whatever a store takes can be exported and imported; what is damaged is told in one line, and never used."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.results.exports import everything, exported
from tests.results.samples import make_cell, make_record

from netdyno.errors import NetdynoError
from netdyno.results.exchange.merge import merge
from netdyno.results.proof import Proof
from netdyno.results.store import open_store

ODD = st.sampled_from(
    ["[/b]", "\x1b[2J", "\u202e", "\0", "\ud800", "\n", '"', "\\", "😀", "é", "a" * 3000, "=1+1", ""]
)
TEXT = st.lists(st.text(max_size=5) | ODD, max_size=3).map("".join)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXT | NUMBERS | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=20,
)
NAMED = st.dictionaries(TEXT, JSON_VALUES, max_size=3)


@given(
    names=st.fixed_dictionaries(dict.fromkeys(("network", "dataset", "framework", "goal", "source"), TEXT)),
    options=st.dictionaries(TEXT, st.integers(-(2**60), 2**60) | TEXT, max_size=2),
    texts=st.fixed_dictionaries(dict.fromkeys(("machine", "reason", "graph_digest", "worker_hash"), TEXT)),
    parts=st.fixed_dictionaries({"settings": NAMED, "environment": NAMED, "versions": st.dictionaries(TEXT, TEXT)}),
    readings=st.dictionaries(TEXT, NUMBERS, max_size=3),
    batch=st.integers(1, 2**33),
)
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_a_store_takes_can_be_exported_and_imported(
    tmp_path_factory: pytest.TempPathFactory,
    names: Any,
    options: Any,
    texts: Any,
    parts: Any,
    readings: Any,
    batch: int,
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    record = make_record(make_cell(options=options, batch=batch, **names), readings=readings, **texts, **parts)
    what = {name: names[name] for name in ("network", "dataset", "framework")}
    how = {"device": "cpu", "precision": "float32", "execution": "eager", "proved_at": "2026-11-15T09:00:00+00:00"}
    proof = Proof(**what, **how, reason=texts["reason"], machine=texts["machine"])
    with open_store(str(folder / "a.db")) as a, open_store(str(folder / "b.db")) as b:
        try:
            a.add(record)
        except NetdynoError:
            return
        a.add_proof(proof)
        (folder / "a.jsonl").write_bytes(exported(a))
        merge(b, [folder / "a.jsonl"])
        assert everything(a) == everything(b)


def test_a_name_that_a_terminal_obeys_is_kept_without_it(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        store.add(make_record(make_cell(network="a\x1b[2Jb"), reason="line\nline \x07", versions={"x" * 2000: "1"}))
        (record,) = store.records()
    assert record.cell.network == "a�[2Jb"
    assert record.reason == "line\nline �"
    assert list(record.versions) == ["x" * 1000]


@pytest.mark.parametrize(
    ("change", "words"),
    [("started_at = 'yesterday'", "started_at"), ("figures = '{\"a\": 3}'", "figures"),
     ("batch = 'many'", "batch"), ("samples = '[[1, \"x\"]]'", "samples"),
     ("environment = '{\"gpus\": 5}'", "gpus"), ("figures = 'null'", "figures"),
     ("versions = '[[['", "versions"), ("loss_last = 'much'", "loss_last"),
     ("network = x'ff'", "network"), ("device = 'quantum'", "device")],
)  # fmt: skip
def test_a_damaged_row_is_told_in_one_line(
    tmp_path: Path, change: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.db"
    with open_store(str(path)) as store:
        store.add(make_record(environment={"cpu": "A"}))
    with sqlite3.connect(path) as database:
        database.execute(f"update runs set {change}")
    database.close()
    with open_store(str(path), create=False) as store:
        assert store.records() == []
    assert words in caplog.text
