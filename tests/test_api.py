"""The public API: one screen, documented, and it does what the command does."""

import doctest

import pytest

import netdyno
from netdyno.errors import NetdynoError


def own(net, images, *, width=8):
    return net.classifier(net.global_mean_pool(net.relu(net.convolution(images, width, 3))))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("NETDYNO_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NETDYNO_STORE", raising=False)


def test_its_examples_are_true():
    assert doctest.testmod(netdyno).failed == 0
    assert doctest.testmod(netdyno).attempted >= 3


def test_every_name_is_documented():
    assert all(getattr(netdyno, name).__doc__ for name in netdyno.__all__)


def test_a_function_is_a_network_with_options():
    assert netdyno.network(own, dataset="mnist").parameters == 8 * 10 + 9 * 10
    assert netdyno.network(own, dataset="mnist", width=16).parameters == 16 * 10 + 17 * 10
    with pytest.raises(NetdynoError, match="width"):
        netdyno.network(own, dataset="mnist", widht=16)


def test_what_is_run_is_stored_found_and_compared():
    for batch in (1, 2):
        (result,) = netdyno.run(network="lenet", framework="null", batch=batch, runs=2, seconds=0.05)
        assert result.cell.batch == batch
        assert result.head.unit == "images/s"
    assert [result.cell.batch for result in netdyno.results("network=lenet")] == [1, 2]
    (compared,) = netdyno.compare("batch=1", "batch=2")
    assert compared.a.cell.batch == 1
    again = netdyno.run(network="lenet", framework="null", batch=1, runs=2, seconds=0.05)
    assert again[0].records == netdyno.results("batch=1")[0].records


def test_a_network_of_ones_own_is_proved():
    proof = netdyno.verify(own, framework="reference", dataset="mnist")
    assert proof.passed
    assert proof.network == "own"


@pytest.mark.parametrize("fields", [{"batsch": 1}, {"network": "lenet", "suite": "default"}, {"framework": "null"}])
def test_mistakes_are_told_in_one_line(fields):
    with pytest.raises(NetdynoError):
        netdyno.run(**fields)
