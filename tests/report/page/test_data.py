"""What the page carries: every figure, few digits, nothing twice, and commands that can be pasted."""

import json
import shlex
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.pages import HOSTILE, failure, runs_of
from tests.results.samples import make_cell

from netdyno.report.page import data as page_data
from netdyno.report.page.bars import grouping
from netdyno.report.page.compact import compact, epoch_s, evenly, script_safe
from netdyno.report.page.data import PageData
from netdyno.report.page.rows import place_name, results_by_cell, row_of
from netdyno.report.page.writer import repeating_command
from netdyno.results.proof import Proved
from netdyno.results.result import results_of
from netdyno.results.store import open_store
from netdyno.results.store.bulk import runs_by_cell, traces_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def carried(records):
    """The page's data, as the script will read it."""
    data = PageData(Proved(()))
    for result in results_of(records):
        data.add(result)
    return data, json.loads(data.to_json())


def column(told, name):
    return [row[told["columns"].index(name)] for row in told["rows"]]


def figures(told, name):
    """Value, low and high of the figure in every row; None where a row has none."""
    place = next(place for place, figure in enumerate(told["figures"]) if figure["name"] == name)
    return [row[place] if place < len(row) else None for row in column(told, "figures")]


def blocks(told):
    place = told["runColumns"].index("blocks")
    return [run[place] for runs in told["runs"] for run in runs]


@given(json_values)
def test_what_stands_in_a_script_comes_back_the_same(value):
    text = script_safe(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


@given(st.lists(st.integers()), st.integers(min_value=0, max_value=50))
def test_thinning_keeps_the_ends_and_the_order(values, most):
    kept = evenly(values, most)
    assert len(kept) == min(len(values), most)
    if len(values) <= most:
        assert kept == values
    elif most > 1:
        assert (kept[0], kept[-1]) == (values[0], values[-1])


@pytest.mark.parametrize(
    ("value", "short"),
    [
        (1234.5678, 1234.6),
        (464042.4, 464042),
        (3.0, 3),
        (0.000123456, 0.00012346),
        (None, None),
        (float("nan"), None),
        ("12", None),
    ],
)
def test_a_figure_has_five_digits_and_a_large_one_no_fraction(value, short):
    assert compact(value) == short


def test_a_time_that_is_none_is_unknown():
    assert epoch_s("2026-11-15T10:00:00+00:00") == 1_794_736_800
    assert epoch_s("yesterday") is None


@pytest.mark.parametrize("name", [*HOSTILE, "path/to my/net.py:build", "$(reboot)", "; rm -rf ~"])
def test_the_command_that_repeats_a_cell_can_be_pasted(name):
    cell = make_cell(network=name, dataset=name, framework=name, batch=7, threads=3)
    words = shlex.split(repeating_command(cell))
    assert words[:2] == ["netdyno", "run"]
    assert words[words.index("--network") + 1] == name
    assert words[words.index("--framework") + 1] == name
    assert words[words.index("--batch") + 1] == "7"
    assert "--cpu" in words


def test_the_command_names_the_networks_options():
    words = shlex.split(repeating_command(make_cell(options={"hidden": 512, "layers": 2})))
    assert [words[place + 1] for place, word in enumerate(words) if word == "--set"] == ["hidden=512", "layers=2"]


def test_a_cell_on_a_gpu_is_repeated_on_a_gpu():
    words = shlex.split(repeating_command(make_cell(device="cuda")))
    assert words[words.index("--gpus") + 1] == "1"
    assert "--cpu" not in words


def test_texts_and_environments_are_carried_once():
    _, told = carried([*runs_of(framework="alpha"), *runs_of(framework="beta"), *runs_of(framework="gamma")])
    assert len(told["texts"]) == len(set(told["texts"]))
    assert len(set(column(told, "environment"))) == 1
    assert [told["texts"][place] for place in column(told, "framework")] == ["alpha", "beta", "gamma"]


def test_every_block_of_a_few_runs_is_carried():
    data, told = carried(runs_of(framework="alpha"))
    assert [len(run) for run in blocks(told)] == [30, 30, 30]
    assert data.left_out() == ""


def test_many_runs_are_thinned_and_that_is_said(monkeypatch):
    monkeypatch.setattr(page_data, "BLOCKS", 60)
    data, told = carried([record for n in range(4) for record in runs_of(framework=f"f{n}")])
    assert [len(run) for run in blocks(told)] == [5] * 12
    assert "at most 5 timed blocks of each run" in data.left_out()
    assert "the figures come from everything" in data.left_out()


def test_a_failure_is_a_row_without_figures_but_with_its_reason():
    _, told = carried([failure("no such layer")])
    assert column(told, "figures") == [[]]
    assert column(told, "headline") == [None]
    assert told["texts"][column(told, "reason")[0]] == "no such layer"
    assert blocks(told) == [[]]


def test_a_diverged_loss_or_reading_does_not_spoil_the_page():
    records = runs_of(loss_last=float("nan"), readings={"mean_w": float("inf")}, settings={"scale": float("nan")})
    _, told = carried(records)
    assert told["readings"] == ["mean_w"]


def test_streamed_results_are_those_of_the_records(tmp_path):
    with open_store(str(tmp_path / "r.sqlite")) as store:
        for machine, series, framework in np.ndindex(2, 2, 3):
            for record in runs_of(framework=f"f{framework}", machine=f"m{machine}", series=series + 1, seed=series):
                store.add(record)
        streamed = list(results_by_cell(runs_by_cell(store)))
        assert sorted(streamed, key=_key) == sorted(results_of(store.records()), key=_key)
        chosen = list(results_by_cell(runs_by_cell(store), "framework=f1,series=1"))
    assert [(result.cell.framework, result.series) for result in chosen] == [("f1", 1)] * 2


def _key(result):
    return result.machine, result.cell.key()


@pytest.mark.parametrize(
    ("cpu", "name"),
    [
        ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
        ("Intel(R) Xeon(R) CPU E5-2620 v2 @ 2.10GHz", "Intel Xeon E5-2620 v2"),
        ("AMD EPYC 9354 32-Core Processor", "AMD EPYC 9354"),
        ("", "unnamed cpu"),
        (None, "unnamed cpu"),
        (["odd"], "unnamed cpu"),
    ],
)
def test_a_processor_is_named_as_people_name_it(cpu, name):
    assert place_name({"cpu": cpu}, "cpu") == name


def test_a_gpu_that_an_import_describes_oddly_has_no_name():
    for gpus in (None, [], "H200", [None], [{"name": 5}]):
        assert place_name({"gpus": gpus}, "cuda") == "unnamed cuda"


def rows(*groups):
    return [row_of(result, Proved(())) for records in groups for result in results_of(records)]


def test_groups_are_named_by_what_tells_them_apart():
    found = grouping(rows(runs_of(batch=32), runs_of(batch=64)))
    assert [group.label for group in found.groups] == ["batch 32", "batch 64"]
    assert found.shared == "AMD EPYC 9354 · float32 · 2 threads · synthetic data"


def test_two_machines_alike_are_told_apart_by_their_ids():
    found = grouping(rows(runs_of(machine="m1"), runs_of(machine="m2")))
    assert [group.label for group in found.groups] == ["m1", "m2"]


def test_of_too_many_groups_the_batch_with_most_frameworks_is_drawn():
    many = [runs_of(batch=2**n, framework=name, runs=1) for n in range(9) for name in ("alpha", "beta")]
    found = grouping(rows(*many, runs_of(batch=4, framework="gamma", runs=1)))
    assert found.left_out == 8
    assert [row.cell.batch for row in found.rows] == [4, 4, 4]


TRACE = {"power_w": [[0.1 * place, 500.0 + place] for place in range(20)]}


def test_a_page_has_the_same_traces_whether_records_bring_them_or_the_store_is_asked(tmp_path):
    with open_store(str(tmp_path / "r.sqlite")) as store:
        for record in runs_of(trace=TRACE):
            store.add(record)
        data = PageData(Proved(()))
        for result in results_by_cell(runs_by_cell(store, whole=False)):
            data.add(result)
        data.add_traces(partial(traces_of, store))
        _, told = carried(store.records())
    assert column(json.loads(data.to_json()), "trace") == column(told, "trace") != [[]]


def test_of_many_results_only_the_traces_of_the_newest_are_read(monkeypatch):
    monkeypatch.setattr(page_data, "MOST_TRACED", 1)
    data, asked = PageData(Proved(())), []
    for result in results_of(
        [*runs_of(framework="f1", ended_at="2026-11-16T10:00:00+00:00"), *runs_of(framework="f2")]
    ):
        data.add(result)
    data.add_traces(lambda ids: asked.extend(ids) or dict.fromkeys(ids, TRACE))
    told = json.loads(data.to_json())
    assert len(asked) == 1
    assert [bool(trace) for trace in column(told, "trace")] == [True, False]
    assert "readings over time of the newest 1 results" in data.left_out()


def test_the_table_has_the_newest_results_and_says_how_to_see_the_others(monkeypatch):
    monkeypatch.setattr(page_data, "MOST_ROWS", 3)
    monkeypatch.setattr(page_data, "SLACK", 2)
    records = [
        record
        for day in range(1, 11)
        for record in runs_of(0.01 + day / 1000, framework=f"f{day}", ended_at=f"2026-11-{day:02}T10:00:00+00:00")
    ]
    data = PageData(Proved(()))
    for result in results_of(records):
        data.add(result)
    told = json.loads(data.to_json(lambda _: 1600.0))
    assert sorted(told["texts"][name] for name in column(told, "framework")) == ["f10", "f8", "f9"]
    assert column(told, "share") == [
        pytest.approx(value[0] / 1600, rel=1e-4) for value in figures(told, "throughput")
    ]
    assert "the newest 3 of 10 results" in data.left_out()
    assert "netdyno report network=" in data.left_out()
    assert "netdyno results export" in data.left_out()
    assert (data.result_count, data.run_count) == (10, 30)


def test_what_was_left_out_leaves_no_text_behind(monkeypatch):
    monkeypatch.setattr(page_data, "MOST_ROWS", 1)
    _, told = carried([*runs_of(framework="f1"), *runs_of(framework="f2", ended_at="2026-11-16T10:00:00+00:00")])
    assert "f1" not in told["texts"]
    assert "f2" in told["texts"]


def test_rows_that_may_be_compared_stand_together_the_best_first_and_instruments_last():
    _, told = carried([
        *runs_of(1e-6, framework="null"), *runs_of(0.02, framework="alpha"), *runs_of(0.01, framework="beta"),
        *runs_of(0.01, framework="alpha", batch=64), failure("no", framework="gamma"),
    ])  # fmt: skip
    assert [told["texts"][name] for name in column(told, "framework")] == ["beta", "alpha", "gamma", "alpha", "null"]
    assert column(told, "batch") == [32, 32, 32, 64, 32]
    assert column(told, "apart") == [0, 0, 0, 0, 1]


def test_a_stack_trace_is_short_in_the_table_and_whole_in_the_details():
    trace = "Traceback (most recent call last): File 'x.py', line 3, in f ValueError: no such layer"
    _, told = carried([failure(trace)])
    assert told["texts"][column(told, "short")[0]] == "ValueError: no such layer"
    assert told["texts"][column(told, "reason")[0]] == trace


def test_every_figure_is_carried_with_its_interval_and_described_once():
    gpu = {"device": "cuda", "device_peak_bytes": 2**30, "readings": {"mean_w": 500.0, "j_per_item": 0.1}}
    _, told = carried([*runs_of(framework="alpha"), *runs_of(framework="alpha", **gpu)])
    assert [figure["name"] for figure in told["figures"]] == ["throughput", "memory", "power", "energy"]
    assert [figure["heading"] for figure in told["figures"]] == ["images/s", "MiB", "W", "mJ/image"]
    assert figures(told, "memory") == [[256, 256, 256], [1024, 1024, 1024]]
    assert figures(told, "energy") == [None, [100, 100, 100]]
