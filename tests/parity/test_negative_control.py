"""Does `verify` find a real build that trains wrongly? In MXNet 1.2.0 without MKL-DNN a max pool looks up its maxima
in an input that may be overwritten by then: what lies under it gets a gradient of exactly 0, and the loss falls all
the same. A relu before the pool hides it, a response normalisation does not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netdyno.frameworks.spec import read_spec
from netdyno.zoo.catalog import find_entry, resolve
from tests.parity.conftest import candidate_for

SPECS = Path(__file__).parent / "wrong_builds"
NAME = "mxnet-1.2-plain"


@pytest.fixture(scope="module")
def verified():
    candidate_for(read_spec(SPECS / f"{NAME}.toml"), "compiled")
    options = ["--framework", NAME, "--network", "alexnet/imagenet", "--json"]
    return subprocess.run(
        [sys.executable, "-m", "netdyno", "verify", *options],
        env={**os.environ, "NETDYNO_SPECS": str(SPECS)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_verify_refuses_a_build_that_trains_wrongly(verified):
    assert verified.returncode == 1, verified.stderr
    (proof,) = json.loads(verified.stdout)
    assert proof["framework"] == NAME
    assert proof["passed"] is False
    assert "reason" not in proof  # it ran: the values themselves are wrong


def test_the_wrong_build_looks_right_to_whoever_compares_outputs_only(verified):
    (proof,) = json.loads(verified.stdout)
    assert proof["outputs"] < 1e-4
    assert proof["gradients"] > 0.5


def test_the_node_that_verify_names_is_a_convolution_under_a_max_pool(verified):
    (proof,) = json.loads(verified.stdout)
    nodes = resolve(find_entry("alexnet", "imagenet"), 2).graph.nodes
    place = next(number for number, node in enumerate(nodes) if node.name == proof["worst_node"])
    ops = [node.op for node in nodes[place : place + 4]]
    assert ops == ["convolution", "relu", "local_response_norm", "max_pool"]
