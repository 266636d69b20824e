"""`netdyno report` as a user types it: where the page goes, what is said, and one line for a mistake."""

import pytest
from tests.report.pages import Outline, data_of, failure, runs_of, served
from tests.results.samples import make_training

from netdyno.results.store import open_store


@pytest.fixture
def filled(netdyno, tmp_path):
    """A netdyno whose store holds two frameworks and a failure."""
    netdyno.environment["NETDYNO_STORE"] = str(tmp_path / "results.sqlite")
    with open_store(netdyno.environment["NETDYNO_STORE"]) as store:
        for framework in ("alpha", "beta"):
            for record in runs_of(framework=framework):
                store.add(record)
        store.add(failure("no such layer", framework="gamma"))
    return netdyno


def test_it_writes_report_html_and_says_where_and_how_large(filled, tmp_path):
    done = filled("report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "Written: report.html (0." in done.stderr
    assert "3 frameworks on 1 network" in Outline((tmp_path / "report.html").read_text()).text


def test_every_workload_is_in_the_table_and_trainings_have_a_section(filled, tmp_path):
    with open_store(filled.environment["NETDYNO_STORE"]) as store:
        for record in [*served("alpha", 12.25), make_training()]:
            store.add(record)
    assert filled("report", cwd=tmp_path).returncode == 0
    page = (tmp_path / "report.html").read_text()
    data = data_of(page)
    workloads = [data["texts"][row[data["columns"].index("workload")]] for row in data["rows"]]
    assert sorted(workloads) == ["serve", "train", "train", "train"]
    assert "Accuracy while training" in Outline(page).text


def test_a_selector_narrows_the_page(filled, tmp_path):
    assert filled("report", "framework=alpha", "-o", "alpha.html", cwd=tmp_path).returncode == 0
    text = Outline((tmp_path / "alpha.html").read_text()).text
    assert "1 framework on 1 network" in text
    assert "only framework=alpha" in text


def test_charts_are_written_for_papers_too(filled, tmp_path):
    assert filled("report", "--charts", "figures", "--reference", cwd=tmp_path).returncode == 0
    assert (tmp_path / "figures" / "lenet-mnist-training-speed.svg").read_text().startswith("<svg")
    assert (tmp_path / "figures" / "lenet-mnist-training-speed.png").read_bytes().startswith(b"\x89PNG")
    assert "\\toprule" in (tmp_path / "figures" / "2018" / "appendix.tex").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "htm"], ["no format named 'htm'", "Did you mean 'html'?"]),
        (["framwork=alpha"], ["no field named 'framwork'", "Did you mean 'framework'?"]),
        (["network=alexnet"], ["no result matches 'network=alexnet'", "netdyno results"]),
        (["-o", "no/such/folder/report.html"], ["no/such/folder/report.html' cannot be written", "--output"]),
        (["--charts", "results.sqlite/figures"], ["cannot be made", "--charts"]),
    ],
)
def test_a_mistake_is_one_line(filled, tmp_path, arguments, words):
    done = filled("report", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert all(word in done.stderr for word in words)
    assert not (tmp_path / "report.html").exists()


def test_a_store_that_is_not_there_is_named(netdyno, tmp_path):
    done = netdyno("--store", str(tmp_path / "none.sqlite"), "report", cwd=tmp_path)
    assert done.returncode == 2
    assert "no results at" in done.stderr
    assert not (tmp_path / "none.sqlite").exists()


def test_an_empty_store_gives_a_page(netdyno, tmp_path):
    open_store(str(tmp_path / "empty.sqlite")).close()
    assert netdyno("--store", str(tmp_path / "empty.sqlite"), "report", cwd=tmp_path).returncode == 0
    assert "Nothing measured yet" in (tmp_path / "report.html").read_text()
