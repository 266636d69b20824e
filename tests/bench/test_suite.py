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


@pytest.mark.parametrize(
    ("exclude", "words"),
    [
        ('framework = "nul"', "no framework named 'nul'.*Did you mean 'null'"),
        ('execution = "egaer"', "no execution named 'egaer'.*Did you mean 'eager'"),
        ('precision = ["float32", "fp16"]', "no precision named 'fp16'"),
        ('device = "gpu"', "no device named 'gpu'"),
        ('data = "fresh"', "no data named 'fresh'"),
        ('dataset = "minst"', "no dataset named 'minst'.*Did you mean 'mnist'"),
        ('network = "lenett"', "no network named 'lenett'.*Did you mean 'lenet'"),
        ('network = "lenet/imagenet"', "expected a dataset among mnist, received 'imagenet'"),
        ('workload = "trian"', "no workload named 'trian'"),
        ('network = [["lenet/mnist"]]', r"network: expected a name, received \['lenet/mnist'\]"),
        ('batch = "8"', "batch: expected a whole number over 0, received '8'"),
        ("batch = 9223372036854775808", "batch: expected at most 2,147,483,647"),
        ("options = 3", "options: expected a table"),
        ("batch = []", "exclude.batch: expected at least one value"),
        ('netwrk = "lenet"', "no field of a cell named 'netwrk'"),
    ],
)
def test_an_exclude_is_checked_like_the_matrix(tmp_path, exclude, words):
    with pytest.raises(NetdynoError, match=words):
        _read(tmp_path, f'[matrix]\nnetwork = "lenet"\n[[exclude]]\n{exclude}\n')


def test_an_exclude_that_matches_nothing_is_noted(tmp_path):
    text = (
        '[matrix]\nnetwork = "lenet"\nbatch = [1, 2]\n[[exclude]]\nbatch = 1\n[[exclude]]\nframework = "reference"\n'
    )
    suite = _read(tmp_path, text)
    assert [cell.batch for cell in suite.cells] == [2]
    assert suite.notes == ("exclude leaves nothing out: framework='reference'",)


def test_an_exclude_of_a_users_own_network(tmp_path):
    (tmp_path / "mine.py").write_text("def small(net, images):\n    return net.classifier(net.flatten(images))\n")
    own = f"{tmp_path}/mine.py:small"
    suite = _read(tmp_path, f'[matrix]\nnetwork = ["{own}", "lenet"]\n[[exclude]]\nnetwork = "{own}"\n')
    assert [cell.network for cell in suite.cells] == ["lenet"]


def test_too_many_cells_are_counted_and_not_made(tmp_path):
    made = []
    text = f"[matrix]\nnetwork = 'lenet'\nbatch = {list(range(1, 3001))}\nthreads = {list(range(1, 201))}\n"
    (tmp_path / "big.toml").write_text(text)
    with pytest.raises(NetdynoError, match="600,000 cells: expected at most 5,000"):
        read_suite(tmp_path / "big.toml", made.append)
    assert made == []
    with pytest.raises(NetdynoError, match="2,000,000 runs: expected at most 100,000"):
        _read(tmp_path, f"runs = 1000\n[matrix]\nnetwork = 'lenet'\nbatch = {list(range(1, 2001))}\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("runs = 100000000000000000000", "runs: expected at most 1,000, received 100000000000000000000"),
        (f"runs = 0x{'f' * 9000}", "a whole number of 10,837 digits"),
        (f"runs = {'9' * 9000}", "expected a suite in TOML"),
        ("seconds = inf", "seconds: expected at most 1,000,000"),
        ("seconds = nan", "seconds: expected a number over 0, received nan"),
        ("seconds = 1e309", "seconds: expected at most"),
        ("deadline = 1e7", "deadline_s: expected at most"),
        ("target = 1", "target: expected at most"),
        ("seed = 4294967296", "seed: expected a whole number from 0 to 4294967295"),
        (f"a = {'[' * 5000}", "expected a suite in TOML"),
        (f"name = '{'x' * 101}'", "name: expected at most 100 characters"),
        (f"runs = '{'x' * 100_000}'", "runs: expected int"),
        (f"{'x' * 100_000} = 1", "no field of a suite named 'xxx"),
        (f"include = {list(range(50_000))}", "expected tables of cell fields, received 0"),
        ("x" * 1_000_001, "expected a suite of at most 1,000,000 bytes"),
    ],
)
def test_a_value_out_of_bounds_is_one_short_line(tmp_path, text, words):
    with pytest.raises(NetdynoError, match=words) as caught:
        _read(tmp_path, f'{text}\n[matrix]\nnetwork = "lenet"\n')
    assert len(str(caught.value)) < 700
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["a\0b", "a\x1b[2J", "\u202elenet", "x" * 1001, "a\nb"])
def test_a_name_that_cannot_be_seen_is_refused(name):
    with pytest.raises(NetdynoError, match="network: expected a name of at most 1000 characters"):
        BENCH.complete({"network": name})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**30])
def test_an_option_that_is_no_sensible_number_is_refused(value):
    with pytest.raises(NetdynoError, match=r"hidden: expected"):
        BENCH.complete({"network": "fcn5-small", "options": {"hidden": value}})
