"""`netdyno run` with a suite that learns: as `netdyno train` does it, one cell after the other."""

import json

import pytest
from tests.data.tiny_mnist import pack

SUITE = """
runs = 2
evaluate_every = 2
[matrix]
workload = "learn"
network = "ffn"
options = [{hidden = 5}, {hidden = 6}]
framework = "reference"
batch = 16
goal = "steps=3"
"""


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SUITE)
    return str(path)


def test_a_plan_names_the_goals_without_the_data(netdyno, suite):
    done = netdyno("run", suite, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "4 runs to make" in done.stderr
    assert done.stdout.count("steps=3") == 4


def test_every_seed_of_every_cell_is_trained_and_shown(netdyno, suite):
    pack(netdyno.home)
    done = netdyno("run", suite)
    assert done.returncode == 0, done.stderr
    assert "hidden=5" in done.stdout
    assert "hidden=6" in done.stdout
    assert done.stdout.count("2 of 2") == 2
    results = json.loads(netdyno("results", "--json").stdout)
    assert {(result["goal"], result["source"], result["runs"]) for result in results} == {("steps=3", "mnist", 2)}
    assert "2 finished earlier" not in done.stderr
    assert "4 finished earlier" in netdyno("run", suite).stderr


def test_what_was_trained_by_a_suite_is_not_trained_again_by_train(netdyno, suite):
    pack(netdyno.home)
    netdyno("run", suite)
    flags = ("--framework", "reference", "--batch", "16", "--steps", "3", "--evaluate-every", "2", "--seeds", "2")
    done = netdyno("train", "--network", "ffn", "--set", "hidden=5", *flags)
    assert done.returncode == 0, done.stderr
    assert "seed 1" not in done.stderr


def test_data_that_is_missing_is_one_line_with_the_hint_of_train(netdyno, suite):
    done = netdyno("run", suite)
    flags = ("--framework", "reference", "--batch", "16", "--steps", "3")
    assert (done.returncode, done.stderr) == (2, netdyno("train", "--network", "ffn", *flags).stderr)
    assert "netdyno datasets get mnist" in done.stderr


def test_a_malformed_goal_is_one_line(netdyno, tmp_path, suite):
    (tmp_path / "mine.toml").write_text(SUITE.replace("steps=3", "steps=x"))
    done = netdyno("run", suite)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "mine.toml: expected a goal such as" in done.stderr
