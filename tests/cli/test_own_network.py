"""A user's own network: its proof counts for its runs, by what it computes and not by where its file lies."""

import sys
from pathlib import Path

import pytest

import netdyno.frameworks

REFERENCE = Path(netdyno.frameworks.__file__).parent / "specs" / "reference.toml"
MINE = """
def mine(net, images, *, hidden=8):
    return net.classifier(net.relu(net.linear(net.flatten(images), {first})))
"""
NETWORK = ("--network", "mine.py:mine", "--dataset", "mnist", "--framework", "proper")
NETWORK = (*NETWORK, "--python", f"proper={sys.executable}")
RUN = ("run", *NETWORK, "--runs", "1", "--seconds", "0.1")
UNPROVED = "Not proved equal on this machine: proper"


@pytest.fixture
def mine(netdyno, tmp_path):
    """Calls netdyno in a folder with the network's file and a framework that needs a proof: it is to be installed."""
    (tmp_path / "mine.py").write_text(MINE.format(first="hidden"))
    spec = REFERENCE.read_text().replace('name = "reference"', 'name = "proper"')
    (tmp_path / "proper.toml").write_text(spec.replace("requirements = []", 'requirements = ["numpy==2.0.0"]'))
    netdyno.environment["NETDYNO_SPECS"] = str(tmp_path)

    def call(*arguments):
        done = netdyno(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


def test_a_proof_of_an_own_network_counts_for_its_runs(mine):
    assert UNPROVED in mine(*RUN, "--batch", "4")
    mine("verify", *NETWORK)
    assert UNPROVED not in mine(*RUN, "--batch", "4", "--again")
    assert UNPROVED not in mine(*RUN, "--batch", "8")


def test_it_does_not_count_for_other_options_or_a_changed_file(mine, tmp_path):
    mine("verify", *NETWORK)
    assert UNPROVED in mine(*RUN, "--set", "hidden=9")
    (tmp_path / "mine.py").write_text(MINE.format(first="hidden + 1"))
    assert UNPROVED in mine(*RUN)


def test_its_results_are_named_by_its_function(mine, netdyno):
    mine(*RUN)
    (result,) = netdyno.json("results")
    assert (result["network"], result["dataset"]) == ("mine", "mnist")
