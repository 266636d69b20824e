"""What the documentation shows is true: the example of a worker in another language, the page of the frameworks."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "another-language"


@pytest.fixture
def in_javascript(netdyno):
    if shutil.which("node") is None:
        pytest.skip("the example needs the command 'node'")
    netdyno.environment["NETDYNO_SPECS"] = str(EXAMPLE)
    return netdyno


def test_a_worker_in_another_language_is_measured(in_javascript):
    network = f"{EXAMPLE / 'softmax.py'}:softmax"
    cell = ("--framework", "javascript", "--network", network, "--dataset", "mnist", "--batch", "4")
    done = in_javascript("run", *cell, "--runs", "1", "--seconds", "0.5")
    assert done.returncode == 0, done.stderr
    (result,) = in_javascript.json("results")
    assert result["outcome"] == "measured"
    assert result["figures"]["throughput"]["value"] > 0


def test_it_refuses_a_network_it_cannot_train(in_javascript):
    in_javascript("run", "--framework", "javascript", "--network", "lenet", "--runs", "1", "--seconds", "0.5")
    (result,) = in_javascript.json("results")
    assert result["outcome"] == "unsupported"


def test_a_language_that_is_not_here_is_named(netdyno):
    netdyno.environment.update(NETDYNO_SPECS=str(EXAMPLE), PATH=os.path.dirname(shutil.which("sh") or "") + "-none")
    done = netdyno("run", "--framework", "javascript", "--network", "lenet")
    assert done.returncode == 2
    assert "the command 'node', which is not on PATH" in done.stderr


def test_the_page_of_the_frameworks_is_what_the_specs_and_the_last_verification_say():
    about = importlib.util.spec_from_file_location("make_frameworks", DOCS / "make_frameworks.py")
    assert about is not None
    assert about.loader is not None
    maker = importlib.util.module_from_spec(about)
    about.loader.exec_module(maker)
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(), "run: python docs/make_frameworks.py"
