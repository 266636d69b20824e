"""The page stands on its own, says what is weak or missing, and nothing in a name can run in it."""

import base64
import hashlib
import re
import sys
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from tests.report.pages import GPU, HOSTILE, Outline, data_of, failure, page_of, runs_of, served, with_figure
from tests.results.figures import learn_figures
from tests.results.samples import make_cell, make_training

from netdyno.cli import report
from netdyno.errors import NetdynoError
from netdyno.report.page.page import Contents, make_page
from netdyno.results.figure import Figure
from netdyno.results.proof import Proof
from netdyno.results.record import Evaluation
from netdyno.results.result import results_of
from netdyno.results.store import open_store


@pytest.fixture(scope="module")
def page():
    """Two frameworks on a CPU, one of them weak; one on a GPU; one that failed."""
    gpu = {
        "device": "cuda",
        "environment": GPU,
        "device_peak_bytes": 2**30,
        "readings": {"mean_w": 500.0, "j_per_item": 0.1},
    }
    return page_of([
        *runs_of(0.010, framework="alpha"),
        *runs_of(0.013, framework="beta", flags=("foreign load",)),
        *runs_of(0.001, framework="alpha", **gpu),
        failure("ValueError: no such layer", framework="gamma"),
    ])  # fmt: skip


def test_nothing_is_fetched_from_anywhere(page):
    allowed = {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"https?://[^\s\"'<>]+", page)) <= allowed
    assert not [tag for tag, _ in Outline(page).tags if tag in ("link", "iframe", "object", "embed", "base")]
    assert all("src" not in attributes for _, attributes in Outline(page).tags)


def test_the_policy_allows_the_one_script_and_nothing_else(page):
    policy = next(a["content"] for tag, a in Outline(page).tags if a.get("http-equiv") == "Content-Security-Policy")
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert not [name for _, attributes in Outline(page).tags for name in attributes if name.startswith("on")]


def test_headings_are_in_order_and_there_is_one_title(page):
    levels = [int(tag[1]) for tag, _ in Outline(page).tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_ids_are_unique_and_inner_links_lead_somewhere(page):
    tags = Outline(page).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [a["href"] for tag, a in tags if tag == "a"]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_the_first_lines_say_what_was_measured_and_when(page):
    text = Outline(page).text
    assert "3 frameworks on 1 network" in text
    assert "4 results from 10 runs, 2026-11-15" in text


def test_every_device_has_its_answers_in_words(page):
    text = Outline(page).text
    assert re.search(r"Fastest alpha \(eager\) 1\.3\d times as fast as the next", text)
    assert "alpha, with no other framework at the same settings" in text


def test_weak_numbers_failures_and_unproved_frameworks_are_named(page):
    text = Outline(page).text
    assert "foreign load 1 other processes used over 5 % of the machine" in text
    assert "ValueError: no such layer" in text
    assert "not measured: ValueError: no such layer" in text
    assert "Not verified for everything that was measured, on the machine that measured it: alpha, beta" in text


def test_a_figure_that_was_not_read_has_its_reason(page):
    assert "Mean power on AMD EPYC 9354: power is read on GPUs only." in Outline(page).text


def test_a_proof_shows_and_silences_the_doubt():
    proofs = [
        Proof(framework="alpha", network="lenet", dataset="mnist", device="cpu", precision="float32",
              execution="eager", passed=True, gradients=1e-5, machine="here", graph_identity="graph", resolution={})
    ]  # fmt: skip
    text = Outline(page_of(runs_of(framework="alpha"), proofs=proofs)).text
    assert "alpha cpu, float32 1 of 1 1.0e-05" in text
    assert "Everything measured here was verified" in text
    assert "The winner is not verified" not in text


def test_trainings_are_shown_with_their_curve():
    curve = tuple(
        Evaluation(step=n, train_s=float(n), wall_s=float(n), accuracy=0.9 + n / 100, loss=0.1) for n in range(5)
    )
    cell = make_cell(
        workload="learn", framework="alpha", goal="accuracy=0.9 within epochs=2", source="mnist", data="packed"
    )
    figures = learn_figures(curve, {"train_s": 4.0})
    training = make_training(0, cell=cell, curve=curve, figures=figures, headline="train_time")
    text = Outline(page_of(runs_of(framework="alpha"), trainings=results_of([training]))).text
    assert "Accuracy while training" in text
    assert "0.9400" in text


def test_published_figures_stand_beside_todays_with_their_caveats_once():
    text = Outline(page_of([*runs_of(framework="alpha"), *runs_of(framework="beta")], with_reference=True)).text
    assert text.count("Means of three runs, published without intervals") == 1
    assert "2018: 1 × Tesla K20m, batch 64" in text
    assert "today: " in text


def test_an_empty_store_gives_a_page_that_says_so():
    page = page_of([])
    assert "Nothing measured yet" in Outline(page).text
    assert "netdyno run" in Outline(page).text


def test_a_store_of_failures_gives_a_page_of_reasons():
    text = Outline(page_of([failure(f"reason {n}", framework=f"f{n}") for n in range(3)])).text
    assert "Nothing could be measured: all 3 results ended without a measurement" in text
    assert all(f"reason {n}" in text for n in range(3))


def test_one_run_has_a_speed_but_no_interval():
    page = page_of(runs_of(framework="alpha", runs=1))
    data = data_of(page)
    (row,) = data["rows"]
    told = dict(zip(data["columns"], row, strict=True))
    speed, low, high = told["figures"][told["headline"]]
    assert speed > 0
    assert (low, high) == (None, None)
    assert "one run" in Outline(page).text


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_is_only_text(name):
    """As a framework, network, dataset, machine, reason, flag, version and device at once."""
    environment = {"cpu": name, name: {name: [name, 1]}}
    page = page_of([
        *runs_of(framework=name, network=name, dataset=name, machine=name, flags=(name,), versions={name: name},
                 settings={name: name, "execution": name}, absent={name: name}, environment=environment),
        failure(name, framework="other", network=name, dataset=name),
    ])  # fmt: skip
    plain = page_of([*runs_of(framework="a", network="b"), failure("c", framework="other", network="b")])
    tags = [tag for tag, _ in Outline(page).tags if tag in ("script", "img", "iframe", "b")]
    assert tags == [tag for tag, _ in Outline(plain).tags if tag in ("script", "img", "iframe", "b")]
    assert not [a for _, attributes in Outline(page).tags for a in attributes if a.startswith("on")]
    assert name in data_of(page)["texts"]
    for chart in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(chart)  # every chart is well formed, whatever is written in it


def test_a_missing_extra_is_one_line_with_its_command(monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.startswith("netdyno.report.page")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with open_store(str(tmp_path / "r.sqlite")) as store:
        asked = report.Asked(store=store, selector="", reference=False)
        with pytest.raises(NetdynoError, match=r"pip install 'netdyno\[report\]'"):
            report.page_text(asked, lambda _: None)


def test_a_figure_that_the_report_does_not_know_is_in_the_headline_the_charts_and_the_table():
    page = page_of([
        *with_figure(runs_of(framework="alpha"), Figure("tail_latency", "ms", "less", 12.25)),
        *with_figure(runs_of(framework="beta"), Figure("tail_latency", "ms", "less", 24.5)),
    ])  # fmt: skip
    text, figures = Outline(page).text, data_of(page)["figures"]
    assert "Lowest tail latency alpha (eager) the next has 2.00 times as much" in text
    assert "Tail latency, ms" in text
    assert "Less is better." in text
    assert figures[-1]["heading"] == "tail latency, ms"
    assert [row[data_of(page)["columns"].index("figures")][-1][0] for row in data_of(page)["rows"]] == [12.25, 24.5]


def test_a_workload_that_the_report_does_not_know_is_everywhere_on_the_page():
    page = page_of([*runs_of(framework="alpha"), *served("alpha", 12.25), *served("beta", 24.5)])
    text, data = Outline(page).text, data_of(page)
    assert "Lowest reply delay (serve) alpha (eager) the next has 2.00 times as much" in text
    assert "Fastest (train) Nothing to compare" in text
    assert "lenet on mnist serve" in text
    assert "Reply delay, ms" in text
    assert "The best reply delay in ms or training speed in images/s of each framework" in text
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    shown = [row for row in rows if data["texts"][row["workload"]] == "serve"]
    headings = [figure["heading"] for figure in data["figures"]]
    delay, queue = headings.index("reply delay, ms"), headings.index("queue, MiB")
    assert [row["figures"][delay] for row in shown] == [[12.25] * 3, [24.5] * 3]
    assert [row["figures"][queue] for row in shown] == [[3] * 3] * 2
    assert [row["headline"] for row in shown] == [delay] * 2
    command = next(data["texts"][row["command"]] for row in shown)
    assert command.startswith("netdyno run --workload serve --network lenet")


def test_charts_of_two_workloads_have_names_of_their_own():
    records = [*runs_of(framework="alpha"), *runs_of(framework="beta")]
    records += [replace(record, cell=replace(record.cell, workload="serve")) for record in records]
    charts = make_page(Contents(results=results_of(records))).charts
    assert {"lenet-mnist-peak-memory", "lenet-mnist-serve-peak-memory"} <= charts.keys()


def test_a_record_that_is_called_measured_but_has_no_figures_spoils_nothing():
    empty = [replace(record, samples=(), figures={}) for record in runs_of(framework="beta")]
    text = Outline(page_of([*runs_of(framework="alpha", batch=64), *runs_of(framework="alpha"), *empty])).text
    assert "0 weak, 1 without a measurement" in text


def test_a_users_network_is_shown_by_its_name_and_repeated_by_its_path():
    page = page_of(runs_of(framework="alpha", network="/home/user/nets/mine.py:mine"))
    assert "mine on mnist" in Outline(page).text
    assert "/home/user" not in Outline(page).text
    assert any("--network /home/user/nets/mine.py:mine" in text for text in data_of(page)["texts"])


def test_two_networks_of_one_name_are_never_mixed():
    page = page_of([
        *runs_of(0.01, framework="alpha", network="one.py:net"),
        *runs_of(0.02, framework="alpha", network="two.py:net"),
    ])  # fmt: skip
    data = data_of(page)
    networks = [data["texts"][row[data["columns"].index("network")]] for row in data["rows"]]
    assert networks == ["one.py:net", "two.py:net"]
    assert "framework one.py:net/mnist two.py:net/mnist alpha 3,1" in Outline(page).text


def test_a_stack_trace_is_a_line_in_the_lists_and_whole_in_the_details():
    trace = "Traceback (most recent call last): File 'x.py', line 3, in f ValueError: no such layer"
    page = page_of([*runs_of(framework="alpha"), failure(trace, framework="gamma")])
    assert "ValueError: no such layer" in Outline(page).text
    assert "Traceback" not in Outline(page).text
    assert trace in data_of(page)["texts"]
