"""From a TOML file to cells."""

from pathlib import Path

import pytest

from netdyno.bench.cells import Bench
from netdyno.bench.settings import Settings
from netdyno.bench.suite import expand, read_suite
from netdyno.bench.suites import default_framework, find_suite
from netdyno.errors import NetdynoError

BENCH = Bench(threads=2, folder=Path(), framework="null")


def _read(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return read_suite(path, BENCH.complete)


def test_a_matrix_is_every_combination_in_the_order_of_the_file(tmp_path):
    suite = _read(tmp_path, '[matrix]\nnetwork = ["lenet", "alexnet/cifar10"]\nbatch = [8, 16]\n')
    assert [(cell.network, cell.batch) for cell in suite.cells] == [
        ("lenet", 8),
        ("lenet", 16),
        ("alexnet", 8),
        ("alexnet", 16),
    ]


def test_what_is_not_said_is_the_networks_the_frameworks_or_the_machines_own(tmp_path):
    (cell,) = _read(tmp_path, '[matrix]\nnetwork = "lenet"\n').cells
    assert cell.as_dict() == {
        "workload": "train",
        "network": "lenet",
        "options": {},
        "dataset": "mnist",
        "goal": "",
        "source": "",
        "framework": "null",
        "device": "cpu",
        "batch": 64,
        "precision": "float32",
        "execution": "eager",
        "data": "synthetic",
        "threads": 2,
        "ranks": 1,
        "nodes": 1,
        "strategy": "none",
        "synchrony": "none",
    }


def test_include_adds_and_exclude_takes_away(tmp_path):
    suite = _read(
        tmp_path,
        '[matrix]\nnetwork = "lenet"\nbatch = [1, 2, 3]\n'
        '[[include]]\nnetwork = "vgg16/cifar10"\nbatch = [4, 5]\n'
        "[[exclude]]\nbatch = [2, 5]\n",
    )
    assert [(cell.network, cell.batch) for cell in suite.cells] == [("lenet", 1), ("lenet", 3), ("vgg16", 4)]


def test_a_cell_named_twice_is_measured_once(tmp_path):
    suite = _read(tmp_path, '[matrix]\nnetwork = ["lenet", "lenet/mnist"]\n')
    assert len(suite.cells) == 1


def test_settings_come_from_the_file(tmp_path):
    text = (
        'name = "quick"\nruns = 5\nseconds = 2\ntarget = 0.01\ndeadline = 60\nseed = 7\n[matrix]\nnetwork = "lenet"\n'
    )
    suite = _read(tmp_path, text)
    assert suite.name == "quick"
    assert suite.settings == Settings(runs=5, seconds=2, target=0.01, deadline_s=60, seed=7)


def test_a_cell_that_the_framework_rules_out_is_refused(tmp_path):
    with pytest.raises(NetdynoError, match="null has no device 'cuda'"):
        _read(tmp_path, '[matrix]\nnetwork = "lenet"\ndevice = "cuda"\n')


def test_a_users_own_network_is_a_cell(tmp_path):
    (tmp_path / "mine.py").write_text("def small(net, images):\n    return net.classifier(net.flatten(images))\n")
    suite = _read(tmp_path, f'[matrix]\nnetwork = "{tmp_path}/mine.py:small"\ndataset = "mnist"\n')
    assert suite.cells[0].dataset == "mnist"
    assert BENCH.programme(suite.cells[0]).graph.parameter_count() == 7850


def test_options_that_differ_from_their_defaults_are_part_of_a_cell():
    cell = BENCH.complete({"network": "fcn5-small", "options": {"hidden": 512}})
    assert cell.options == (("hidden", 512),)
    assert BENCH.complete({"network": "fcn5-small", "options": ["hidden=512"]}) == cell
    assert BENCH.complete({"network": "fcn5-small", "options": {"hidden": 2048}}).options == ()
    assert "options=hidden:512" in cell.key()


@pytest.mark.parametrize("given", [{"hiden": 1}, {"hidden": "x"}, ["hidden"], ["hidden=x"], 3])
def test_options_that_a_network_does_not_have_are_refused(given):
    with pytest.raises(NetdynoError, match=r"hidden|options"):
        BENCH.complete({"network": "fcn5-small", "options": given})


def test_a_table_of_options_is_one_value_of_a_matrix():
    rows = expand({"network": "lstm", "options": [{"hidden": 512}, {"hidden": 1024}], "batch": [1, 2]})
    assert [(row["options"]["hidden"], row["batch"]) for row in rows] == [(512, 1), (512, 2), (1024, 1), (1024, 2)]
    assert expand({"network": "lstm", "options": {"hidden": 512}}) == [
        {"network": "lstm", "options": {"hidden": 512}}
    ]


def test_the_default_suite_is_bundled_and_names_the_first_framework():
    suite = read_suite(find_suite("default"), BENCH.complete)
    assert {cell.framework for cell in suite.cells} == {default_framework()}
    assert len(suite.cells) == 4
