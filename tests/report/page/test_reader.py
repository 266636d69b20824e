"""What a demanding reader looks for: machine, ratios, intervals, plain words, and instruments apart."""

import re

import pytest
from msgspec.structs import replace
from tests.report.pages import Outline, data_of, page_of, runs_of, served, with_figure
from tests.report.realistic import realistic_records

from netdyno.results.figure import Figure
from netdyno.results.result import results_of
from netdyno.results.words import margin


def test_the_first_lines_name_the_machine_and_the_versions():
    text = Outline(page_of(realistic_records())).text
    assert "15 frameworks on 4 networks" in text  # without netdyno's own instruments
    assert "AMD EPYC 9354, 32 cores (64 threads), 270 GiB memory, Debian GNU/Linux 12 (bookworm)" in text
    assert "NVIDIA H200, 140 GiB, driver 580.159.04" in text
    assert all(words in text for words in ("PyTorch 2: 2.9.1", "JAX: 0.7.2", "Python: 3.12.3", "netdyno: 0.2.0"))


def test_netdynos_own_instruments_stand_apart():
    page = page_of(realistic_records())
    text, data = Outline(page).text, data_of(page)
    assert "Null (computes nothing): 2 µs a step on AMD EPYC 9354" in text
    assert text.count("Null") == 2  # once for each device, under what netdyno itself costs
    assert "85 results steady, 2 weak, 2 without a measurement" in text
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    assert [row["share"] for row in rows if row["apart"]] == [None, None]


def test_a_page_of_instruments_only_is_no_page_of_failures():
    text = Outline(page_of(runs_of(1e-6, framework="null"))).text
    assert "Only netdyno's own instruments" in text
    assert "Nothing could be measured" not in text


def test_a_ratio_is_to_the_best_with_equal_settings():
    page = page_of([
        *runs_of(0.010, framework="alpha"), *runs_of(0.020, framework="beta"), *runs_of(1e-6, framework="null"),
        *runs_of(0.001, framework="alpha", batch=64), *runs_of(0.040, framework="alpha", execution="compiled"),
    ])  # fmt: skip
    data = data_of(page)
    shares = [row[data["columns"].index("share")] for row in data["rows"]]
    assert shares == [1, pytest.approx(0.5, rel=0.01), pytest.approx(0.25, rel=0.01), 1, None]


def test_a_figure_of_which_less_is_better_has_a_ratio_over_one():
    data = data_of(page_of([*served("alpha", 12.25), *served("beta", 24.5)]))
    assert [row[data["columns"].index("share")] for row in data["rows"]] == [1, 2]


def test_an_interval_has_the_words_of_the_terminal():
    records = [*runs_of(framework="alpha"), *runs_of(framework="beta", runs=1)]
    records += [
        replace(run, number=number, id=f"wide {number}")
        for number, step_s in enumerate((0.01, 0.03, 0.06), 1)
        for run in runs_of(step_s, framework="gamma", runs=1)
    ]
    data = data_of(page_of(records))
    at = {name: place for place, name in enumerate(data["columns"])}
    shown = {data["texts"][row[at["framework"]]]: data["texts"][row[at["interval"]]] for row in data["rows"]}
    assert shown == {result.cell.framework: margin(result.head) for result in results_of(records)}
    assert shown["beta"] == "one run"
    assert re.fullmatch(r"[\d.,]+ … [\d.,]+", shown["gamma"])


def test_a_result_alone_has_the_words_of_the_terminal_too():
    records = runs_of(framework="alpha", runs=1)
    assert "images/s one run" in Outline(page_of(records)).text


JARGON = (
    "excludes 1", "holds 1", "99.5 % interval", "proved equal", "No contest", "rival", "Leanest", "frugal", "MFU",
    "median was", "integral", "bootstrap", "float64",
)  # fmt: skip


def test_the_page_speaks_plainly():
    text = Outline(page_of(realistic_records())).text
    assert [words for words in JARGON if words in text] == []


def test_a_figure_that_one_framework_reports_has_no_chart_of_holes():
    records = [
        *with_figure(runs_of(framework="alpha"), Figure("copies", "bytes", "less", 2.0**20)),
        *runs_of(0.02, framework="beta"),
    ]
    text = Outline(page_of(records)).text
    assert "Copies, MiB" not in text
    assert "not read" not in text.replace("the processor's counters were not read", "")
    assert "Lowest copies" not in text
