"""Tables fit 100 columns, keep every digit, and show whatever figures there are."""

import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console
from tests.report.pages import failure, runs_of, served, with_figure
from tests.results.figures import learn_figures
from tests.results.samples import make_cell, make_training

from netdyno.report.names import short_name, short_names, short_reason
from netdyno.report.terminal.tables import results_tables
from netdyno.report.terminal.trainings.learning import learning_tables
from netdyno.results.figure import Figure
from netdyno.results.record import Evaluation
from netdyno.results.result import results_of

OWN = "/home/somebody/projects/a-folder-with-a-long-name/networks/mine.py:mine"
MXNET = (
    'MXNetError: Traceback (most recent call last): File "../src/operator/nn/dropout.cc", line 95 '
    "MXNetError: Check failed: ctx == gpu: no such layer Stack trace: [bt] (0) /usr/lib/libmxnet.so(+0x1) [0x7f]"
)


def text(parts, width=100):
    console = Console(file=io.StringIO(), width=width, highlight=False)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def shown(*groups, width=100):
    return text(results_tables(results_of([record for group in groups for record in group])), width)


def gpu_runs(**changes):
    readings = {"mean_w": 499.6, "j_per_item": 0.12345}
    return runs_of(0.001, device="cuda", device_peak_bytes=2**34, readings=readings, **changes)


def test_a_users_own_network_has_its_functions_name_and_no_digit_is_cut():
    records = runs_of(32 / 3736, network=OWN, framework="tensorflow-1.9", execution="compiled-cudagraph")
    table = shown(records)
    assert max(map(len, table.splitlines())) <= 100
    assert "mine/mnist" in table
    assert f"{results_of(records)[0].figures['throughput'].value:,.0f}" in table.split()
    assert "/home" not in table


@pytest.mark.parametrize("width", [80, 100])
def test_words_wrap_before_a_digit_is_lost(width):
    long = {"network": "n" * 60, "dataset": "a-dataset-with-a-long-name", "framework": "tensorflow-1.9"}
    table = shown(runs_of(1e-7, batch=65536, execution="compiled-cudagraph", **long), width=width)
    assert max(map(len, table.splitlines())) <= width
    value = results_of(runs_of(1e-7, batch=65536, **long))[0].figures["throughput"].value
    assert f"{value:,.0f}" in table
    assert "65536" in table


@pytest.mark.parametrize("network", [OWN, "n" * 70])
@pytest.mark.parametrize("width", [80, 100])
def test_a_gpus_figures_fit_beside_a_long_name(network, width):
    runs = gpu_runs(network=network, framework="tensorflow-1.9", execution="compiled-cudagraph", batch=4096)
    table = shown(runs, width=width)
    assert max(map(len, table.splitlines())) <= width
    assert f"{results_of(runs)[0].figures['throughput'].value:,.0f}" in table.split()
    for number in ("16,384", "500", "0.123"):
        assert number in table.split()


def test_two_networks_of_one_name_are_told_apart_by_their_files():
    assert short_names({"a/one.py:net", "b/two.py:net", "lenet"}) == {
        "a/one.py:net": "one.py:net",
        "b/two.py:net": "two.py:net",
        "lenet": "lenet",
    }
    assert short_name("lenet") == "lenet"


def test_an_unknown_figure_has_a_column_of_its_own():
    table = shown(with_figure(runs_of(), Figure("latency", "ms", "less", 12.25)))
    assert "latency, ms" in table
    assert "12.2" in table


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_workload_that_is_not_known_has_a_table_of_its_figures(device):
    table = shown(runs_of(framework="alpha"), served("beta", 12.25, device=device))
    (header,) = [line for line in table.splitlines() if "reply delay, ms" in line]
    assert "queue, MiB" in header
    assert "images/s" not in header
    (row,) = [line.split() for line in table.splitlines() if "12.25" in line]
    assert row[row.index("12.25") :][:6] == ["12.25", "±", "0.00", "%", "3", "3" if device == "cpu" else "–"]


def test_the_main_figure_is_shown_even_if_it_is_a_detail_elsewhere():
    figures = {"step": Figure("step", "s", "less", 0.125)}
    records = [replace(record, figures=figures, headline="step") for record in runs_of(workload="serve")]
    assert "0.125" in shown(records).split()


def test_options_of_a_network_are_shown():
    assert "hidden=512" in shown(runs_of(), runs_of(options={"hidden": 512})).split()


def test_a_stack_trace_becomes_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("NETDYNO_HOME", str(tmp_path))
    record = failure(MXNET, framework="mxnet-1.9")
    log = tmp_path / "runs" / record.id / "stderr.log"
    log.parent.mkdir(parents=True)
    log.write_text(MXNET)
    note = shown([record]).partition("\n¹ ")[2]
    assert "".join(note.split()) == "".join(
        f"MXNetError: Check failed: ctx == gpu: no such layer; all of it in {log}".split()
    )


def test_a_note_names_no_log_that_is_not_here(monkeypatch, tmp_path):
    monkeypatch.setenv("NETDYNO_HOME", str(tmp_path))
    assert shown([failure(MXNET)]).rstrip().endswith("¹ MXNetError: Check failed: ctx == gpu: no such layer")


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("out of memory", "out of memory"),
        (MXNET, "MXNetError: Check failed: ctx == gpu: no such layer"),
        ("Traceback (most recent call last):\n  File 'a', line 1\nValueError: bad\nshape", "ValueError: bad shape"),
        ("Check failed: a == b\nStack trace:\n  [bt] (0) x.so", "Check failed: a == b"),
        ("x" * 500, "x" * 199 + "…"),
    ],
)
def test_a_reason_is_one_short_line(reason, line):
    assert short_reason(reason) == line


def test_names_from_a_store_are_never_markup():
    assert "[bold]lenet[/b]/mnist" in shown(runs_of(network="[bold]lenet[/b]"))


def test_trainings_show_every_figure_with_its_interval_in_100_columns():
    goal = "accuracy=0.9 within epochs=2"
    cell = make_cell(
        workload="learn", framework="tensorflow-1.9", network=OWN, goal=goal, source="mnist", data="packed"
    )
    records = [
        make_training(
            seed, cell=cell, headline="train_time", outcome="measured" if seed else "short of its goal",
            reason="" if seed else "accuracy 0.8900 at the end", curve=curve,
            figures=learn_figures(curve, {"train_s": 123.4 + seed, "wall_s": 200.0, "energy_j": 5000.0}),
        )
        for seed in range(3)
        for curve in [(Evaluation(step=1, train_s=1.0, wall_s=1.0, accuracy=0.9 + seed / 100, loss=0.1),)]
    ]  # fmt: skip
    table = text(learning_tables(results_of(records), 2.0))
    assert max(map(len, table.splitlines())) <= 100
    assert "mine/mnist b32 on mnist, accuracy=0.9 within epochs=2" in table
    for number in ("0.9100", "0.8855–0.9352", "124.4", "121.9–126.9", "5", "0.111"):
        assert number in table.split()
    assert "2 of 3" in table
    assert "¹ accuracy 0.8900 at the end" in table
    assert Path(OWN).parent.name not in table


def test_a_training_beside_other_work_says_so_below_its_table():
    cell = make_cell(workload="learn", goal="steps=3", source="mnist", data="packed")
    disturbed = make_training(1, cell=cell, flags=("foreign load",))
    table = text(learning_tables(results_of([disturbed]), None))
    assert "trained¹" in table
    assert "¹ foreign load" in table


def test_where_few_runs_make_an_interval_wide_it_says_how_many_would_halve_it():
    wide = [replace(runs_of(0.01 + n / 1000, runs=1)[0], number=n, id=str(n)) for n in (1, 2, 3)]
    assert "5 instead of 3 would halve them" in shown(wide)
    assert "would halve" not in shown(runs_of(runs=3))
