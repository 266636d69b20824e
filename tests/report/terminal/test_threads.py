"""A sweep of threads beside what was published: every figure there, too many threads marked, in 100 columns."""

import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console
from tests.results.samples import make_cell, make_record, make_samples

from netdyno.bench.cells import Bench
from netdyno.bench.suite import read_suite
from netdyno.bench.suites import find_suite
from netdyno.frameworks.spec import specs
from netdyno.report.published.survey import published_thread_times
from netdyno.report.terminal.threads import thread_tables
from netdyno.results.figure import Figure
from netdyno.results.result import results_of

TWO_CORES = {"cpu": "AMD [EPYC]", "physical_cores": 2, "logical_cores": 2, "usable_cores": 2.0}
STEP_S = {1: 0.8, 2: 0.4, 4: 0.5}


def _records(framework="alpha", step_s=STEP_S, environment=TWO_CORES, **changes):
    fields = {"network": "fcn5", "dataset": "vectors26752", "batch": 64, "framework": framework, **changes}
    return [
        make_record(
            make_cell(threads=threads, **fields),
            samples=make_samples([seconds] * 10),
            environment=environment,
            id=f"{framework}-{threads}-{changes}",
        )
        for threads, seconds in step_s.items()
    ]


def _text(records, published=()):
    console = Console(file=io.StringIO(), width=100, highlight=False)
    for part in thread_tables(results_of(records), published):
        console.print(part)
    return console.file.getvalue()


def _line(text, *words):
    """The words of the line that starts with these."""
    return next(line.split() for line in text.splitlines() if line.split()[: len(words)] == list(words))


def test_a_row_has_seconds_per_batch_and_what_more_threads_bring():
    assert _line(_text(_records()), "alpha", "here")[2:] == ["0.800", "0.400", "×2.00", "0.500", "×1.60¹"]


def test_more_threads_than_cores_are_marked_and_said():
    text = _text(_records())
    assert "¹ here, more threads than cores" in text
    assert text.count("¹") == 2  # four threads, and the note


def test_logical_cores_are_told_from_physical_ones():
    smt = {**TWO_CORES, "logical_cores": 4, "usable_cores": 4.0}
    text = _text(_records(environment=smt))
    assert "2 physical, 4 logical cores" in text
    assert "¹ here, more threads than physical cores" in text


def test_published_figures_stand_beside_with_source_and_cpu():
    text = _text(_records("caffe-1.0") + _records("pytorch-2"), published_thread_times())
    title = " ".join(text.split())
    assert "Shi 2016: Intel i7-3820, 4 physical cores; Shi et al. 2016 (arXiv 1608.07249)" in title
    assert "here: AMD [EPYC], 2 physical, 2 logical cores" in title
    assert _line(text, "Caffe", "Shi", "2016")[3:] == [
        "1.324", "0.790", "×1.68", "0.578", "×2.29", "15.444", "×0.09¹",
    ]  # fmt: skip
    names = [line.split()[0] for line in text.splitlines() if "×" in line and "batch" not in line]
    assert names == ["Caffe", "caffe-1.0", "pytorch-2", "TensorFlow", "Torch"]


def test_what_the_source_left_out_is_a_dash_with_a_reason():
    text = _text(_records(), published_thread_times())
    mark = _line(text, "Torch", "Shi", "2016")[-1]
    assert mark[0] == "–"
    assert f"{mark[1:]} Shi 2016 has no figure" in text


@pytest.mark.parametrize("changes", [{"network": "fcn8"}, {"batch": 32}])
def test_figures_of_another_network_or_batch_are_not_put_beside(changes):
    assert "Shi" not in _text(_records(**changes), published_thread_times())


def test_a_cell_without_a_measurement_says_why():
    records = _records(step_s={1: 0.8, 2: 0.4})
    failed = make_record(
        make_cell(network="fcn5", dataset="vectors26752", batch=64, framework="alpha", threads=4),
        outcome="out of memory", reason="asked for 2 GiB", samples=(), environment=TWO_CORES, id="failed",
    )  # fmt: skip
    text = _text([*records, failed])
    assert "out of memory¹" in text
    assert "¹ asked for 2 GiB" in text


def test_each_network_and_batch_has_its_own_table():
    text = _text(_records() + _records(network="fcn8") + _records(batch=32))
    assert text.count("seconds per batch of 64") == 2
    assert text.count("seconds per batch of 32") == 1


def test_workloads_and_options_of_a_network_have_tables_of_their_own():
    text = _text(_records() + _records(workload="serve") + _records(options={"hidden": 512}))
    assert text.count("seconds per batch of 64") == 3


def test_results_that_are_no_rate_have_no_seconds_per_batch():
    figures = {"delay": Figure("delay", "ms", "less", 2.0)}
    records = [replace(record, figures=figures, headline="delay") for record in _records(workload="serve")]
    assert thread_tables(results_of(records), ()) == []


def test_ways_of_execution_are_told_apart_only_where_there_are_several():
    text = _text(_records() + _records(execution="compiled") + _records("beta"))
    assert _line(text, "alpha", "compiled", "here")
    assert _line(text, "alpha", "eager", "here")
    assert _line(text, "beta", "here")


def test_without_a_sweep_on_a_cpu_there_is_nothing_to_show():
    assert thread_tables(results_of(_records(step_s={2: 0.4})), published_thread_times()) == []
    assert thread_tables(results_of(_records(device="cuda")), published_thread_times()) == []


def test_the_table_of_every_framework_in_two_ways_fits_100_columns_and_is_whole():
    step_s = {1: 123.456, 2: 100.5, 4: 61.25, 8: 15.444}
    ways = ({"execution": "compiled", "precision": "bfloat16"}, {})
    records = [record for name in specs() for way in ways for record in _records(name, step_s, **way)]
    text = _text(records, published_thread_times())
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("123.456") == 2 * len(specs())
    assert "…" not in text


def test_the_bundled_figures_are_the_surveys_twelve():
    times = published_thread_times()
    assert len(times) == 12
    assert {time.batch for time in times} == {64}
    assert {time.threads for time in times} == {1, 2, 4, 8}
    assert [time.framework for time in times if time.seconds_per_batch is None] == ["Torch"]


def test_the_bundled_suite_sweeps_what_was_published_in_every_framework_there_is():
    bench = Bench(threads=2, folder=Path(), framework="null")
    cells = read_suite(find_suite("threads"), bench.complete).cells
    published = published_thread_times()
    assert {(time.network, time.batch, time.threads) for time in published} <= {
        (cell.network, cell.batch, cell.threads) for cell in cells
    }
    here = {spec.name for spec in specs().values() if spec.adapter and not spec.is_instrument}
    assert here <= {cell.framework for cell in cells}
    assert {cell.device for cell in cells} == {"cpu"}
